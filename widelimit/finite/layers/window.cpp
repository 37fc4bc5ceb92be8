#include "widelimit/finite/layers/window.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/sample_team.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>
#include <numeric>

namespace widelimit {

namespace {

/// Returns the input index on one axis, or −1 outside.
Index read_at(Index output, Index place, Index n, Index stride, Index before, Padding padding) {
  const Index at = output * stride + place - before;
  if (padding == Padding::circular) return ((at % n) + n) % n;
  return at >= 0 && at < n ? at : -1;
}

/// Returns the rows of `table` sorted by the pattern of their −1 entries, so that rows with equal patterns are
/// adjacent.
std::vector<Index> alike_together(const std::vector<Index>& table, Index rows, Index places) {
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  const auto at = [&](Index row) { return table.begin() + row * places; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return std::lexicographical_compare(at(a), at(a) + places, at(b), at(b) + places,
                                        [](Index x, Index y) { return (x < 0) < (y < 0); });
  });
  return order;
}

}  // namespace

Windows::Windows(const Shape& in, const Extent& window, const Extent& strides, Padding padding)
    : size_(window.rows * window.cols) {
  const Windowing rows = windowing(in.height, window.rows, strides.rows, padding);
  const Windowing cols = windowing(in.width, window.cols, strides.cols, padding);
  height_ = rows.count;
  width_ = cols.count;
  constexpr Index most_places = Index{1} << 30;
  if (std::max(height_ * width_, in.positions()) > most_places / size_) {
    fail(Code::resource, "{} windows of {} places on {} positions do not fit in memory; choose a smaller window",
         height_ * width_, size_, in.positions());
  }
  const auto narrow = [](Index number) { return static_cast<std::int32_t>(number); };
  grid_ = {.in_height = narrow(in.height),
           .in_width = narrow(in.width),
           .height = narrow(height_),
           .width = narrow(width_),
           .rows = narrow(window.rows),
           .cols = narrow(window.cols),
           .row_stride = narrow(strides.rows),
           .col_stride = narrow(strides.cols),
           .rows_before = narrow(rows.before),
           .cols_before = narrow(cols.before),
           .circular = padding == Padding::circular};
  positions_.reserve(static_cast<std::size_t>(height_ * width_ * size_));
  for (Index i = 0; i < height_; ++i) {
    for (Index j = 0; j < width_; ++j) {
      for (Index r = 0; r < window.rows; ++r) {
        for (Index c = 0; c < window.cols; ++c) {
          const Index row = read_at(i, r, in.height, strides.rows, rows.before, padding);
          const Index col = read_at(j, c, in.width, strides.cols, cols.before, padding);
          positions_.push_back(row < 0 || col < 0 ? -1 : row * in.width + col);
        }
      }
    }
  }
  readers_.assign(static_cast<std::size_t>(in.positions() * size_), -1);
  for (Index o = 0; o < height_ * width_; ++o) {
    for (Index k = 0; k < size_; ++k) {
      if (input(o, k) >= 0) readers_[static_cast<std::size_t>(input(o, k) * size_ + k)] = o;
    }
  }
  order_ = alike_together(positions_, height_ * width_, size_);
  reader_order_ = alike_together(readers_, in.positions(), size_);
}

template <std::floating_point T>
void Windows::gather(const Tensor<T>& input, Tensor<T>& patches, const Engine& engine) const {
  const Index channels = input.shape().channels;
  patches.resize(input.count(), {height_, width_, size_ * channels});
  if (const auto& layers = layers_of<T>(engine)) {
    layers->gather_windows(grid_, channels, input.count(), input.read(layers).data, patches.write(layers).data);
    return;
  }
  for_each_sample(input.count(), patches.size(), engine, [&](Index n) {
    T* to = patches.sample(n);
    for (const Index position : positions_) {
      if (position >= 0) {
        std::copy_n(input.sample(n) + position * channels, channels, to);
      } else {
        std::fill_n(to, channels, T{0});
      }
      to += channels;
    }
  });
}

template <std::floating_point T>
void Windows::scatter(const Tensor<T>& patches, const Shape& in, Tensor<T>& sum, const Engine& engine) const {
  sum.resize(patches.count(), in);
  if (const auto& layers = layers_of<T>(engine)) {
    layers->scatter_windows(grid_, in.channels, patches.count(), patches.read(layers).data, sum.write(layers).data);
    return;
  }
  sum.clear();
  for_each_sample(patches.count(), patches.size(), engine, [&](Index n) {
    const T* from = patches.sample(n);
    for (const Index position : positions_) {
      if (position >= 0) {
        T* to = sum.sample(n) + position * in.channels;
        for (Index c = 0; c < in.channels; ++c) to[c] += from[c];
      }
      from += in.channels;
    }
  });
}

template void Windows::gather(const Tensor<float>&, Tensor<float>&, const Engine&) const;
template void Windows::gather(const Tensor<double>&, Tensor<double>&, const Engine&) const;
template void Windows::scatter(const Tensor<float>&, const Shape&, Tensor<float>&, const Engine&) const;
template void Windows::scatter(const Tensor<double>&, const Shape&, Tensor<double>&, const Engine&) const;

}  // namespace widelimit
