#include "widelimit/finite/layers/pointwise.hpp"

#include "widelimit/base/random.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Streams below this one belong to the weights.
constexpr std::uint64_t dropout_streams = std::uint64_t{1} << 32;

/// Mean and 1/σ over the channels of one position; 1/σ is 0 where σ is.
struct ChannelMoments {
  double mean;
  double inverse;
};

template <std::floating_point T>
ChannelMoments channel_moments(const T* x, Index channels) {
  const auto count = static_cast<double>(channels);
  double mean = 0.0;
  for (Index c = 0; c < channels; ++c) mean += static_cast<double>(x[c]) / count;
  double largest = 0.0;  // taken out before squaring, so that no scale of x overflows or vanishes
  for (Index c = 0; c < channels; ++c) largest = std::max(largest, std::abs(static_cast<double>(x[c]) - mean));
  if (largest == 0.0) return {mean, 0.0};
  double variance = 0.0;
  for (Index c = 0; c < channels; ++c) {
    const double part = (static_cast<double>(x[c]) - mean) / largest;
    variance += part * part / count;
  }
  return {mean, 1.0 / (largest * std::sqrt(variance))};
}

}  // namespace

template <std::floating_point T>
void normalise(const Tensor<T>& input, Tensor<T>& output) {
  const Index channels = input.shape().channels;
  output.resize(input.count(), input.shape());
  for (Index row = 0; row < input.rows(); ++row) {
    const T* x = input.data() + row * channels;
    const ChannelMoments m = channel_moments(x, channels);
    for (Index c = 0; c < channels; ++c) {
      output[row * channels + c] = static_cast<T>((static_cast<double>(x[c]) - m.mean) * m.inverse);
    }
  }
}

/// With y = (x−μ)/σ: ∂f/∂x = (g − mean g − y·mean(g∘y))/σ.
template <std::floating_point T>
void normalise_signal(const Tensor<T>& input, const Tensor<T>& signal, Tensor<T>& back) {
  const Index channels = input.shape().channels;
  const auto count = static_cast<double>(channels);
  back.resize(input.count(), input.shape());
  for (Index row = 0; row < input.rows(); ++row) {
    const T* x = input.data() + row * channels;
    const T* g = signal.data() + row * channels;
    const ChannelMoments m = channel_moments(x, channels);
    const double mean = m.mean;
    const double inverse = m.inverse;
    const auto y = [&](Index c) { return (static_cast<double>(x[c]) - mean) * inverse; };
    double mean_g = 0.0;
    double mean_gy = 0.0;
    for (Index c = 0; c < channels; ++c) {
      mean_g += static_cast<double>(g[c]) / count;
      mean_gy += static_cast<double>(g[c]) * y(c) / count;
    }
    for (Index c = 0; c < channels; ++c) {
      back[row * channels + c] = static_cast<T>((static_cast<double>(g[c]) - mean_g - y(c) * mean_gy) * inverse);
    }
  }
}

template <std::floating_point T>
void rescale(const Scale& scale, const Tensor<T>& input, Tensor<T>& output) {
  output.resize(input.count(), input.shape());
  const auto by = static_cast<T>(scale.by);
  for (Index i = 0; i < input.size(); ++i) output[i] = by * input[i];
}

template <std::floating_point T>
void drop(const Dropout& dropout, Index layer, const DropoutDraw& draw, const Tensor<T>& input, Tensor<T>& output) {
  output.resize(input.count(), input.shape());
  const Random random(draw.seed, dropout_streams + static_cast<std::uint64_t>(layer));
  const auto first = static_cast<std::uint64_t>(draw.first_sample * input.shape().size());
  const auto factor = static_cast<T>(1.0 / dropout.rate);
  for (Index i = 0; i < input.size(); ++i) {
    const bool kept = random.uniform(first + static_cast<std::uint64_t>(i)) < dropout.rate;
    output[i] = kept ? input[i] * factor : T{0};
  }
}

template void normalise(const Tensor<float>&, Tensor<float>&);
template void normalise(const Tensor<double>&, Tensor<double>&);
template void normalise_signal(const Tensor<float>&, const Tensor<float>&, Tensor<float>&);
template void normalise_signal(const Tensor<double>&, const Tensor<double>&, Tensor<double>&);
template void rescale(const Scale&, const Tensor<float>&, Tensor<float>&);
template void rescale(const Scale&, const Tensor<double>&, Tensor<double>&);
template void drop(const Dropout&, Index, const DropoutDraw&, const Tensor<float>&, Tensor<float>&);
template void drop(const Dropout&, Index, const DropoutDraw&, const Tensor<double>&, Tensor<double>&);

}  // namespace widelimit
