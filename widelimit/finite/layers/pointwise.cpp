#include "widelimit/finite/layers/pointwise.hpp"

#include "widelimit/base/random.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

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

template void normalise(const Tensor<float>&, Tensor<float>&, const Engine&);
template void normalise(const Tensor<double>&, Tensor<double>&, const Engine&);
template void normalise_signal(const Tensor<float>&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void normalise_signal(const Tensor<double>&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void rescale(const Scale&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void rescale(const Scale&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void drop(const Dropout&, Index, const DropoutDraw&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void drop(const Dropout&, Index, const DropoutDraw&, const Tensor<double>&, Tensor<double>&, const Engine&);

}  // namespace widelimit
