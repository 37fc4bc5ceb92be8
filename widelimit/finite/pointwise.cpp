#include "widelimit/finite/pointwise.hpp"

#include "widelimit/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace widelimit {

namespace {

/// Streams below this one belong to the weights.
constexpr std::uint64_t dropout_streams = std::uint64_t{1} << 32;

std::vector<double> call(const Function& function, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  function(x, y);
  return y;
}

std::vector<double> central_difference(const Function& function, std::span<const double> x) {
  const double relative_step = std::cbrt(std::numeric_limits<double>::epsilon());
  std::vector<double> above(x.begin(), x.end());
  std::vector<double> below(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double step = relative_step * std::max(1.0, std::abs(x[i]));
    above[i] += step;
    below[i] -= step;
  }
  std::vector<double> slope = call(function, above);
  const std::vector<double> lower = call(function, below);
  for (std::size_t i = 0; i < x.size(); ++i) slope[i] = (slope[i] - lower[i]) / (above[i] - below[i]);
  return slope;
}

std::span<const double> values_of(const Tensor& tensor) {
  return {tensor.data(), static_cast<std::size_t>(tensor.size())};
}

/// Mean and 1/σ over the channels of one position; 1/σ is 0 where σ is.
struct Moments {
  double mean;
  double inverse;
};

Moments moments(const double* x, Index channels) {
  const auto count = static_cast<double>(channels);
  double mean = 0.0;
  for (Index c = 0; c < channels; ++c) mean += x[c] / count;
  double largest = 0.0;  // taken out before squaring, so that no scale of x overflows or vanishes
  for (Index c = 0; c < channels; ++c) largest = std::max(largest, std::abs(x[c] - mean));
  if (largest == 0.0) return {mean, 0.0};
  double variance = 0.0;
  for (Index c = 0; c < channels; ++c) {
    const double part = (x[c] - mean) / largest;
    variance += part * part / count;
  }
  return {mean, 1.0 / (largest * std::sqrt(variance))};
}

}  // namespace

Tensor activate(const Stage& stage, const Activation& activation, const Tensor& input) {
  Tensor output(input.count(), input.shape());
  if (stage.custom) {
    (*stage.custom)(values_of(input), {output.data(), static_cast<std::size_t>(output.size())});
  } else {
    for (Index i = 0; i < input.size(); ++i) output[i] = evaluate(activation, input[i]);
  }
  return output;
}

Tensor activate_signal(const Stage& stage, const Activation& activation, const Tensor& input, const Tensor& signal) {
  Tensor back(signal);
  if (stage.custom) {
    const auto slope = central_difference(*stage.custom, values_of(input));
    for (Index i = 0; i < back.size(); ++i) back[i] *= slope[static_cast<std::size_t>(i)];
  } else {
    for (Index i = 0; i < back.size(); ++i) back[i] *= derivative(activation, input[i]);
  }
  return back;
}

Tensor normalise(const Tensor& input) {
  const Index channels = input.shape().channels;
  Tensor output(input.count(), input.shape());
  for (Index row = 0; row < input.rows(); ++row) {
    const double* x = input.data() + row * channels;
    const Moments m = moments(x, channels);
    for (Index c = 0; c < channels; ++c) output[row * channels + c] = (x[c] - m.mean) * m.inverse;
  }
  return output;
}

/// With y = (x−μ)/σ: ∂f/∂x = (g − mean g − y·mean(g∘y))/σ.
Tensor normalise_signal(const Tensor& input, const Tensor& signal) {
  const Index channels = input.shape().channels;
  const auto count = static_cast<double>(channels);
  Tensor back(input.count(), input.shape());
  for (Index row = 0; row < input.rows(); ++row) {
    const double* x = input.data() + row * channels;
    const double* g = signal.data() + row * channels;
    const Moments m = moments(x, channels);
    double mean_g = 0.0;
    double mean_gy = 0.0;
    for (Index c = 0; c < channels; ++c) {
      mean_g += g[c] / count;
      mean_gy += g[c] * (x[c] - m.mean) * m.inverse / count;
    }
    for (Index c = 0; c < channels; ++c) {
      back[row * channels + c] = (g[c] - mean_g - (x[c] - m.mean) * m.inverse * mean_gy) * m.inverse;
    }
  }
  return back;
}

Tensor rescale(const Scale& scale, Tensor values) {
  for (Index i = 0; i < values.size(); ++i) values[i] *= scale.by;
  return values;
}

Tensor drop(const Dropout& dropout, Index layer, const DropoutDraw& draw, Tensor values) {
  const Random random(draw.seed, dropout_streams + static_cast<std::uint64_t>(layer));
  const auto first = static_cast<std::uint64_t>(draw.first_sample * values.shape().size());
  for (Index i = 0; i < values.size(); ++i) {
    const bool kept = random.uniform(first + static_cast<std::uint64_t>(i)) < dropout.rate;
    values[i] = kept ? values[i] / dropout.rate : 0.0;
  }
  return values;
}

}  // namespace widelimit
