#pragma once

#include "widelimit/engine/cuda/layers/layer_math.hpp"

/// Passes of LayerPasses over windows and positions of images, one thread per result: no two threads write to the same
/// element, and each sums in the order of window places.
namespace widelimit::cuda {

/// Index into an array N × outer × inner × channels. Uses 32-bit divisions if possible: a 64-bit division takes about a
/// hundred instructions on a device, more than the rest of a pass.
struct Place {
  Index sample;
  int outer;
  int inner;
  Index channel;
  WIDELIMIT_BOTH Place(Index i, int outers, int inners, Index channels) {
    if (i >> 32 == 0) {
      set<std::uint32_t>(i, outers, inners, channels);
    } else {
      set<std::uint64_t>(i, outers, inners, channels);
    }
  }

 private:
  template <typename Number>
  WIDELIMIT_BOTH void set(Index i, int outers, int inners, Index channels) {
    Number rest = static_cast<Number>(i);
    const auto split = [&](Index by) {
      const Number divisor = static_cast<Number>(by);
      const Number quotient = rest / divisor;
      const Number left = rest - quotient * divisor;
      rest = quotient;
      return left;
    };
    channel = static_cast<Index>(split(channels));
    inner = static_cast<int>(split(inners));
    outer = static_cast<int>(split(outers));
    sample = static_cast<Index>(rest);
  }
};

/// V adjacent channels, loaded and stored as one unit.
template <typename T, int V>
struct alignas(V * sizeof(T)) ChannelPack {
  T value[V];
};

/// Here and below, `channels` counts packs.
template <typename T, int V>
struct GatherWindows {
  WindowGrid grid;
  Index channels;
  const ChannelPack<T, V>* x;
  ChannelPack<T, V>* patches;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Place to(i, grid.height * grid.width, grid.rows * grid.cols, channels);
    const int from = window_input(grid, to.outer, to.inner);
    patches[i] =
        from < 0 ? ChannelPack<T, V>{} : x[(to.sample * grid.in_height * grid.in_width + from) * channels + to.channel];
  }
};
/// Gathers over all windows that contain a position, so that no two threads write to the same element.
template <typename T, int V>
struct ScatterWindows {
  WindowGrid grid;
  Index channels;
  const ChannelPack<T, V>* patches;
  ChannelPack<T, V>* sum;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const int places = grid.rows * grid.cols;
    const Place to(i, grid.in_height * grid.in_width, 1, channels);
    ChannelPack<T, V> total{};
    for (int k = 0; k < places; ++k) {
      const int from = window_reader(grid, to.outer, k);
      if (from < 0) continue;
      const ChannelPack<T, V> part =
          patches[((to.sample * grid.height * grid.width + from) * places + k) * channels + to.channel];
      for (int v = 0; v < V; ++v) total.value[v] += part.value[v];
    }
    sum[i] = total;
  }
};

template <typename T>
struct PoolSum {
  WindowGrid grid;
  T factor;
  Index channels;
  const T* change;
  T* y;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Place to(i, grid.height * grid.width, 1, channels);
    T total = 0;
    for (int k = 0; k < grid.rows * grid.cols; ++k) {
      const int from = window_input(grid, to.outer, k);
      if (from < 0) continue;
      total += factor * change[(to.sample * grid.in_height * grid.in_width + from) * channels + to.channel];
    }
    y[i] = total;
  }
};
template <typename T>
struct PoolSumSignal {
  WindowGrid grid;
  T factor;
  Index channels;
  const T* signal;
  T* back;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Place to(i, grid.in_height * grid.in_width, 1, channels);
    T total = 0;
    for (int k = 0; k < grid.rows * grid.cols; ++k) {
      const int from = window_reader(grid, to.outer, k);
      if (from < 0) continue;
      total += factor * signal[(to.sample * grid.height * grid.width + from) * channels + to.channel];
    }
    back[i] = total;
  }
};

/// Returns the first place of a window where the image has its maximum, or −1 for a window of padding only.
template <typename T>
WIDELIMIT_BOTH int largest_place(const WindowGrid& grid, const T* image, Index channels, Index channel, int output) {
  int best = -1;
  T largest = 0;
  for (int k = 0; k < grid.rows * grid.cols; ++k) {
    const int from = window_input(grid, output, k);
    if (from < 0) continue;
    const T value = image[from * channels + channel];
    if (best < 0 || value > largest) {
      best = k;
      largest = value;
    }
  }
  return best;
}
template <typename T>
struct PoolMax {
  WindowGrid grid;
  Index channels;
  const T* x;
  const T* change;
  T* y;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Place to(i, grid.height * grid.width, 1, channels);
    const Index image = to.sample * grid.in_height * grid.in_width * channels;
    const int place = largest_place(grid, x + image, channels, to.channel, to.outer);
    y[i] = place < 0 ? T(0) : change[image + window_input(grid, to.outer, place) * channels + to.channel];
  }
};
template <typename T>
struct PoolMaxSignal {
  WindowGrid grid;
  Index channels;
  const T* x;
  const T* signal;
  T* back;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Place to(i, grid.in_height * grid.in_width, 1, channels);
    const Index image = to.sample * grid.in_height * grid.in_width * channels;
    T total = 0;
    for (int k = 0; k < grid.rows * grid.cols; ++k) {
      const int from = window_reader(grid, to.outer, k);
      if (from < 0 || largest_place(grid, x + image, channels, to.channel, from) != k) continue;
      total += signal[(to.sample * grid.height * grid.width + from) * channels + to.channel];
    }
    back[i] = total;
  }
};

template <typename T>
struct SumPositions {
  T factor;
  Index positions;
  Index channels;
  const T* x;
  T* y;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const T* from = x + i / channels * positions * channels + i % channels;
    T total = 0;
    for (Index p = 0; p < positions; ++p) total += factor * from[p * channels];
    y[i] = total;
  }
};
template <typename T>
struct SpreadPositions {
  T factor;
  Index positions;
  Index channels;
  const T* signal;
  T* back;
  WIDELIMIT_BOTH void operator()(Index i) const {
    back[i] = factor * signal[i / (positions * channels) * channels + i % channels];
  }
};

}  // namespace widelimit::cuda
