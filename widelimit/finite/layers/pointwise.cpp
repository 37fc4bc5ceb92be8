#include "widelimit/finite/layers/pointwise.hpp"

#include "widelimit/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

namespace {

/// Block size, and the minimum number of blocks for multithreading.
constexpr std::size_t piece = std::size_t{1} << 14;
constexpr Index team_pieces = 16;

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

/// y = φ(x). Loops that vectorise are separate, since they run in every training step.
template <std::floating_point T>
void apply_phi(const Stage& stage, const Activation& activation, std::span<const T> x, std::span<T> y) {
  if (stage.custom) {
    const std::vector<double> values = call(*stage.custom, {x.begin(), x.end()});
    std::transform(values.begin(), values.end(), y.begin(), [](double v) { return static_cast<T>(v); });
  } else if (activation.phi == Phi::relu) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] > T{0} ? x[i] : T{0};
  } else {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>(evaluate(activation, static_cast<double>(x[i])));
  }
}

/// back = signal ∘ φ'(x).
template <std::floating_point T>
void apply_slope(const Stage& stage, const Activation& activation, std::span<const T> x, std::span<const T> signal,
                 std::span<T> back) {
  if (stage.custom) {
    const std::vector<double> wide(x.begin(), x.end());
    const std::vector<double> slope = central_difference(*stage.custom, wide);
    for (std::size_t i = 0; i < x.size(); ++i) back[i] = signal[i] * static_cast<T>(slope[i]);
  } else if (activation.phi == Phi::relu) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T passed = signal[i];  // unconditional load, for vectorisation
      back[i] = x[i] >= T{0} ? passed : T{0};
    }
  } else {
    for (std::size_t i = 0; i < x.size(); ++i) {
      back[i] = signal[i] * static_cast<T>(derivative(activation, static_cast<double>(x[i])));
    }
  }
}

/// Returns φ for an engine with separate memory; std::nullopt if only the host can evaluate it.
std::optional<ScalarFunction> function_of(const Stage& stage, const Activation& activation) {
  return stage.custom ? std::nullopt : scalar_function(activation);
}

/// Calls part(first, count) for the blocks of `size` values.
template <typename Part>
void for_pieces(std::size_t size, const Engine& engine, const Part& part) {
  const auto one = [&](Index k) {
    const std::size_t first = static_cast<std::size_t>(k) * piece;
    part(first, std::min(piece, size - first));
  };
  const auto pieces = static_cast<Index>((size + piece - 1) / piece);
  if (pieces >= team_pieces) {
    engine.for_each(pieces, one);
  } else {
    for (Index k = 0; k < pieces; ++k) one(k);
  }
}

/// Streams below this one are used for weights.
constexpr std::uint64_t dropout_streams = std::uint64_t{1} << 32;

/// Mean and 1/σ over the channels of one position; 1/σ is 0 if σ is.
struct ChannelMoments {
  double mean;
  double inverse;
};

template <std::floating_point T>
ChannelMoments channel_moments(const T* x, Index channels) {
  const auto count = static_cast<double>(channels);
  double mean = 0.0;
  for (Index c = 0; c < channels; ++c) mean += static_cast<double>(x[c]) / count;
  double largest = 0.0;  // divided out before squaring, to avoid overflow and underflow
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
void activate(const Stage& stage, const Activation& activation, const Tensor<T>& input, Tensor<T>& output,
              const Engine& engine) {
  output.resize(input.count(), input.shape());
  if (const auto& layers = layers_of<T>(engine)) {
    if (const auto function = function_of(stage, activation)) {
      layers->activate(*function, input.read(layers).data, input.size(), output.write(layers).data);
      return;
    }
  }
  const std::span<const T> x = input.values();
  const std::span<T> y = output.values();
  for_pieces(x.size(), engine, [&](std::size_t first, std::size_t count) {
    apply_phi<T>(stage, activation, x.subspan(first, count), y.subspan(first, count));
  });
}

template <std::floating_point T>
void activate_signal(const Stage& stage, const Activation& activation, const Tensor<T>& input, const Tensor<T>& signal,
                     Tensor<T>& back, const Engine& engine) {
  back.resize(input.count(), input.shape());
  if (const auto& layers = layers_of<T>(engine)) {
    if (const auto function = function_of(stage, activation)) {
      layers->activate_signal(*function, input.read(layers).data, signal.read(layers).data, input.size(),
                              back.write(layers).data);
      return;
    }
  }
  const std::span<const T> x = input.values();
  const std::span<const T> g = signal.values();
  const std::span<T> to = back.values();
  for_pieces(x.size(), engine, [&](std::size_t first, std::size_t count) {
    apply_slope<T>(stage, activation, x.subspan(first, count), g.subspan(first, count), to.subspan(first, count));
  });
}

template <std::floating_point T>
void normalise(const Tensor<T>& input, Tensor<T>& output, const Engine& engine) {
  const Index channels = input.shape().channels;
  output.resize(input.count(), input.shape());
  if (const auto& layers = layers_of<T>(engine)) {
    layers->normalise(input.rows(), channels, input.read(layers).data, output.write(layers).data);
    return;
  }
  const T* x = input.data();
  T* y = output.data();
  for (Index row = 0; row < input.rows(); ++row, x += channels, y += channels) {
    const ChannelMoments m = channel_moments(x, channels);
    for (Index c = 0; c < channels; ++c) {
      y[c] = static_cast<T>((static_cast<double>(x[c]) - m.mean) * m.inverse);
    }
  }
}

/// With y = (x−μ)/σ: ∂f/∂x = (g − mean g − y·mean(g∘y))/σ.
template <std::floating_point T>
void normalise_signal(const Tensor<T>& input, const Tensor<T>& signal, Tensor<T>& back, const Engine& engine) {
  const Index channels = input.shape().channels;
  const auto count = static_cast<double>(channels);
  back.resize(input.count(), input.shape());
  if (const auto& layers = layers_of<T>(engine)) {
    layers->normalise_signal(input.rows(), channels, input.read(layers).data, signal.read(layers).data,
                             back.write(layers).data);
    return;
  }
  const T* x = input.data();
  const T* g = signal.data();
  T* to = back.data();
  for (Index row = 0; row < input.rows(); ++row, x += channels, g += channels, to += channels) {
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
      to[c] = static_cast<T>((static_cast<double>(g[c]) - mean_g - y(c) * mean_gy) * inverse);
    }
  }
}

template <std::floating_point T>
void rescale(const Scale& scale, const Tensor<T>& input, Tensor<T>& output, const Engine& engine) {
  output.resize(input.count(), input.shape());
  const auto by = static_cast<T>(scale.by);
  if (const auto& layers = layers_of<T>(engine)) {
    layers->combine(by, input.read(layers).data, T{0}, nullptr, input.size(), output.write(layers).data);
    return;
  }
  const T* const x = input.data();
  T* const y = output.data();
  for (Index i = 0; i < input.size(); ++i) y[i] = by * x[i];
}

template <std::floating_point T>
void drop(const Dropout& dropout, Index layer, const DropoutDraw& draw, const Tensor<T>& input, Tensor<T>& output,
          const Engine& engine) {
  output.resize(input.count(), input.shape());
  const std::uint64_t stream = dropout_streams + static_cast<std::uint64_t>(layer);
  const auto first = static_cast<std::uint64_t>(draw.first_sample * input.shape().size());
  if (const auto& layers = layers_of<T>(engine)) {
    layers->drop(draw.seed, stream, first, dropout.rate, input.read(layers).data, input.size(),
                 output.write(layers).data);
    return;
  }
  const Random random(draw.seed, stream);
  const auto factor = static_cast<T>(1.0 / dropout.rate);
  const T* const x = input.data();
  T* const y = output.data();
  for (Index i = 0; i < input.size(); ++i) {
    const bool kept = random.uniform(first + static_cast<std::uint64_t>(i)) < dropout.rate;
    y[i] = kept ? x[i] * factor : T{0};
  }
}

template void activate(const Stage&, const Activation&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void activate(const Stage&, const Activation&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void activate_signal(const Stage&, const Activation&, const Tensor<float>&, const Tensor<float>&,
                              Tensor<float>&, const Engine&);
template void activate_signal(const Stage&, const Activation&, const Tensor<double>&, const Tensor<double>&,
                              Tensor<double>&, const Engine&);
template void normalise(const Tensor<float>&, Tensor<float>&, const Engine&);
template void normalise(const Tensor<double>&, Tensor<double>&, const Engine&);
template void normalise_signal(const Tensor<float>&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void normalise_signal(const Tensor<double>&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void rescale(const Scale&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void rescale(const Scale&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void drop(const Dropout&, Index, const DropoutDraw&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void drop(const Dropout&, Index, const DropoutDraw&, const Tensor<double>&, Tensor<double>&, const Engine&);

}  // namespace widelimit
