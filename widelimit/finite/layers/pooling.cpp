#include "widelimit/finite/layers/pooling.hpp"

#include "widelimit/finite/sample_team.hpp"

namespace widelimit {

namespace {

/// Calls visit(input index, output index) for every pair of one sample that a sum over windows connects.
template <typename Visit>
void for_each_connection(const Windows& windows, Index channels, const Visit& visit) {
  for (Index o = 0; o < windows.height() * windows.width(); ++o) {
    for (Index k = 0; k < windows.size(); ++k) {
      const Index position = windows.input(o, k);
      if (position < 0) continue;
      for (Index c = 0; c < channels; ++c) visit(position * channels + c, o * channels + c);
    }
  }
}

/// Returns the input index of the maximum at output (o, c); every window has a place inside the image.
template <std::floating_point T>
Index maximum(const Windows& windows, const T* sample, Index channels, Index o, Index c) {
  Index best = -1;
  for (Index k = 0; k < windows.size(); ++k) {
    const Index position = windows.input(o, k);
    if (position < 0) continue;
    const Index at = position * channels + c;
    if (best < 0 || sample[at] > sample[best]) best = at;
  }
  return best;
}

double pool_factor(Pooling pooling, Index size) {
  return pooling == Pooling::average ? 1.0 / static_cast<double>(size) : 1.0;
}

/// Calls visit(input index, output index) with the input that attains each output's maximum.
template <std::floating_point T, typename Visit>
void for_each_maximum(const Windows& windows, const T* sample, Index channels, const Visit& visit) {
  for (Index o = 0; o < windows.height() * windows.width(); ++o) {
    for (Index c = 0; c < channels; ++c) {
      const Index from = maximum(windows, sample, channels, o, c);
      if (from >= 0) visit(from, o * channels + c);
    }
  }
}

}  // namespace

template <std::floating_point T>
void pool(Pooling pooling, const Windows& windows, const Tensor<T>& input, Tensor<T>& output, const Engine& engine) {
  pool_tangent(pooling, windows, input, input, output, engine);
}

template <std::floating_point T>
void pool_tangent(Pooling pooling, const Windows& windows, const Tensor<T>& input, const Tensor<T>& change,
                  Tensor<T>& output, const Engine& engine) {
  const Index channels = input.shape().channels;
  const auto factor = static_cast<T>(pool_factor(pooling, windows.size()));
  output.resize(input.count(), {windows.height(), windows.width(), channels});
  if (const auto& layers = layers_of<T>(engine)) {
    const T* const from = change.read(layers).data;
    T* const to = output.write(layers).data;
    if (pooling == Pooling::max) {
      layers->pool_max(windows.grid(), channels, input.count(), input.read(layers).data, from, to);
    } else {
      layers->pool_sum(windows.grid(), factor, channels, input.count(), from, to);
    }
    return;
  }
  output.clear();
  for_each_sample(input.count(), input.size(), engine, [&](Index n) {
    const T* from = change.sample(n);
    T* to = output.sample(n);
    if (pooling == Pooling::max) {
      for_each_maximum(windows, input.sample(n), channels, [&](Index i, Index o) { to[o] = from[i]; });
    } else {
      for_each_connection(windows, channels, [&](Index i, Index o) { to[o] += factor * from[i]; });
    }
  });
}

template <std::floating_point T>
void pool_signal(Pooling pooling, const Windows& windows, const Tensor<T>& input, const Tensor<T>& signal,
                 Tensor<T>& back, const Engine& engine) {
  const Index channels = input.shape().channels;
  const auto factor = static_cast<T>(pool_factor(pooling, windows.size()));
  back.resize(input.count(), input.shape());
  if (const auto& layers = layers_of<T>(engine)) {
    const T* const from = signal.read(layers).data;
    T* const to = back.write(layers).data;
    if (pooling == Pooling::max) {
      layers->pool_max_signal(windows.grid(), channels, input.count(), input.read(layers).data, from, to);
    } else {
      layers->pool_sum_signal(windows.grid(), factor, channels, input.count(), from, to);
    }
    return;
  }
  back.clear();
  for_each_sample(input.count(), input.size(), engine, [&](Index n) {
    const T* from = signal.sample(n);
    T* to = back.sample(n);
    if (pooling == Pooling::max) {
      for_each_maximum(windows, input.sample(n), channels, [&](Index i, Index o) { to[i] += from[o]; });
    } else {
      for_each_connection(windows, channels, [&](Index i, Index o) { to[i] += factor * from[o]; });
    }
  });
}

template <std::floating_point T>
void global_pool(const GlobalPool& layer, const Tensor<T>& input, Tensor<T>& output, const Engine& engine) {
  const Index channels = input.shape().channels;
  const auto factor = static_cast<T>(pool_factor(layer.pooling, input.shape().positions()));
  output.resize(input.count(), {1, 1, channels});
  if (const auto& layers = layers_of<T>(engine)) {
    layers->sum_positions(factor, input.shape().positions(), channels, input.count(), input.read(layers).data,
                          output.write(layers).data);
    return;
  }
  output.clear();
  const T* from = input.data();
  for (Index row = 0; row < input.rows(); ++row, from += channels) {
    T* to = output.sample(row / input.shape().positions());
    for (Index c = 0; c < channels; ++c) to[c] += factor * from[c];
  }
}

template <std::floating_point T>
void global_pool_signal(const GlobalPool& layer, const Shape& in, const Tensor<T>& signal, Tensor<T>& back,
                        const Engine& engine) {
  const auto factor = static_cast<T>(pool_factor(layer.pooling, in.positions()));
  back.resize(signal.count(), in);
  if (const auto& layers = layers_of<T>(engine)) {
    layers->spread_positions(factor, in.positions(), in.channels, signal.count(), signal.read(layers).data,
                             back.write(layers).data);
    return;
  }
  T* to = back.data();
  for (Index row = 0; row < back.rows(); ++row, to += in.channels) {
    const T* from = signal.sample(row / in.positions());
    for (Index c = 0; c < in.channels; ++c) to[c] = factor * from[c];
  }
}

template void pool(Pooling, const Windows&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void pool(Pooling, const Windows&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void pool_signal(Pooling, const Windows&, const Tensor<float>&, const Tensor<float>&, Tensor<float>&,
                          const Engine&);
template void pool_signal(Pooling, const Windows&, const Tensor<double>&, const Tensor<double>&, Tensor<double>&,
                          const Engine&);
template void pool_tangent(Pooling, const Windows&, const Tensor<float>&, const Tensor<float>&, Tensor<float>&,
                           const Engine&);
template void pool_tangent(Pooling, const Windows&, const Tensor<double>&, const Tensor<double>&, Tensor<double>&,
                           const Engine&);
template void global_pool(const GlobalPool&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void global_pool(const GlobalPool&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void global_pool_signal(const GlobalPool&, const Shape&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void global_pool_signal(const GlobalPool&, const Shape&, const Tensor<double>&, Tensor<double>&,
                                 const Engine&);

}  // namespace widelimit
