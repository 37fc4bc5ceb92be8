#include "widelimit/finite/pooling.hpp"

#include "widelimit/finite/window.hpp"

namespace widelimit {

namespace {

Windows windows_of(const Pool& layer, const Shape& in) { return {in, layer.window, layer.strides, layer.padding}; }

/// Visits every (input index, output index) pair of one sample that a sum over windows connects.
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

/// Input index of the maximum that output (o, c) takes; a window always has a place inside.
Index maximum(const Windows& windows, const double* sample, Index channels, Index o, Index c) {
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

/// visit(input index, output index) for the one place each output of a maximum comes from.
template <typename Visit>
void for_each_maximum(const Windows& windows, const double* sample, Index channels, const Visit& visit) {
  for (Index o = 0; o < windows.height() * windows.width(); ++o) {
    for (Index c = 0; c < channels; ++c) {
      const Index from = maximum(windows, sample, channels, o, c);
      if (from >= 0) visit(from, o * channels + c);
    }
  }
}

}  // namespace

Tensor pool(const Pool& layer, const Tensor& input) {
  const Windows windows = windows_of(layer, input.shape());
  const Index channels = input.shape().channels;
  const double factor = pool_factor(layer.pooling, windows.size());
  Tensor output(input.count(), {windows.height(), windows.width(), channels});
  for (Index n = 0; n < input.count(); ++n) {
    const double* from = input.sample(n);
    double* to = output.sample(n);
    if (layer.pooling == Pooling::max) {
      for_each_maximum(windows, from, channels, [&](Index i, Index o) { to[o] = from[i]; });
    } else {
      for_each_connection(windows, channels, [&](Index i, Index o) { to[o] += factor * from[i]; });
    }
  }
  return output;
}

Tensor pool_signal(const Pool& layer, const Tensor& input, const Tensor& signal) {
  const Windows windows = windows_of(layer, input.shape());
  const Index channels = input.shape().channels;
  const double factor = pool_factor(layer.pooling, windows.size());
  Tensor back(input.count(), input.shape());
  for (Index n = 0; n < input.count(); ++n) {
    const double* from = signal.sample(n);
    double* to = back.sample(n);
    if (layer.pooling == Pooling::max) {
      for_each_maximum(windows, input.sample(n), channels, [&](Index i, Index o) { to[i] += from[o]; });
    } else {
      for_each_connection(windows, channels, [&](Index i, Index o) { to[i] += factor * from[o]; });
    }
  }
  return back;
}

Tensor global_pool(const GlobalPool& layer, const Tensor& input) {
  const Index channels = input.shape().channels;
  const double factor = pool_factor(layer.pooling, input.shape().positions());
  Tensor output(input.count(), {1, 1, channels});
  for (Index i = 0; i < input.size(); ++i) {
    output[i / input.shape().size() * channels + i % channels] += factor * input[i];
  }
  return output;
}

Tensor global_pool_signal(const GlobalPool& layer, const Shape& in, const Tensor& signal) {
  const double factor = pool_factor(layer.pooling, in.positions());
  Tensor back(signal.count(), in);
  for (Index i = 0; i < back.size(); ++i) back[i] = factor * signal[i / in.size() * in.channels + i % in.channels];
  return back;
}

}  // namespace widelimit
