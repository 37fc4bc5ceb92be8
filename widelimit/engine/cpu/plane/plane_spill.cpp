#include "widelimit/engine/cpu/plane/plane_spill.hpp"

#include <algorithm>
#include <cstdlib>

namespace widelimit::cpu {

template <typename T>
void PlaneSpill<T>::Axis::restart(Index n, const std::vector<Index>& displacements) {
  list = displacements;
  offset.assign(static_cast<std::size_t>(2 * n - 1), -1);
  total = 0;
  for (const Index d : list) {
    offset[static_cast<std::size_t>(d + n - 1)] = total;
    total += n - std::abs(d);
  }
}

template <typename T>
void PlaneSpill<T>::restart(Grid grid, const std::vector<Index>& dy, const std::vector<Index>& dx, Index arrays) {
  grid_ = grid;
  rows_.restart(grid.height, dy);
  cols_.restart(grid.width, dx);
  stride_ = rows_.total * cols_.total * plane_lanes;
  if (memory_.rows() * memory_.cols() < arrays * stride_) memory_ = Matrix<T>(arrays, stride_);
  std::fill_n(memory_.data(), arrays * stride_, T(0));
}

template <typename T>
T* PlaneSpill<T>::plane(Index array, Index dy, Index dx) {
  const Index above = rows_.offset[static_cast<std::size_t>(dy + grid_.height - 1)] * cols_.total;
  const Index beside =
      cols_.offset[static_cast<std::size_t>(dx + grid_.width - 1)] * (Index{grid_.height} - std::abs(dy));
  return memory_.data() + array * stride_ + (above + beside) * plane_lanes;
}

template <typename T>
void PlaneSpill<T>::copy_to(const Plane& plane, const PlaneState<T>& state) {
  for (const PlaneRect& rect : plane.rects()) {
    const Index dy = rect.second_y - rect.first_y;
    const Index dx = rect.second_x - rect.first_x;
    const Index width = grid_.width - std::abs(dx);
    const Index row = rect.first_y - std::max(Index{0}, -dy);
    const Index col = rect.first_x - std::max(Index{0}, -dx);
    for (Index k = 0; k < state.arrays(); ++k) {
      const T* from = this->plane(k, dy, dx) + (row * width + col) * plane_lanes;
      T* to = state.array(k) + (rect.row * plane.cols + rect.col) * plane_lanes;
      for (Index y = 0; y < rect.rows; ++y) {
        std::copy_n(from + y * width * plane_lanes, rect.cols * plane_lanes, to + y * plane.cols * plane_lanes);
      }
    }
  }
}

namespace {

/// One axis of pooling a range of pairs (p, p + d), p in [first, first + count), into displacement `coarse`: window
/// elements [begin, end) of the first image have their partner in the window of the second.
struct PooledAxis {
  Index begin, end;
  Index first, count;
  Index stride, before;
  Index out_first, out_count;

  PooledAxis(Index size, Index step, Index offset, Index d, Index run_first, Index run_count, Index coarse, Index n)
      : begin(std::max(Index{0}, step * coarse - d)),
        end(std::min(size, size - d + step * coarse)),
        first(run_first),
        count(run_count),
        stride(step),
        before(offset),
        out_first(std::max(Index{0}, -coarse)),
        out_count(n - std::abs(coarse)) {}

  /// Index of element `a` of the window at pooled position P, relative to the beginning of the range.
  [[nodiscard]] Index source(Index position, Index a) const { return stride * position - before + a - first; }
};

}  // namespace

template <typename T>
void PlaneSpill<T>::add_pooled(const Step& step, const Plane& plane, const PlaneState<T>& state) {
  const auto scale = static_cast<T>(step.scale * step.scale);
  const auto& passes = plane_passes<T>();
  const auto add_row = [&](const PooledAxis& x, const T* from, T* to) {
    for (Index j = 0; j < x.out_count;) {
      const Index at = x.source(x.out_first + j, 0);
      const Index begin = std::max(x.begin, -at);
      const Index end = std::min(x.end, x.count - at);
      Index run = 1;
      if (begin == x.begin && end == x.end) {  // as many outputs as lie inside the range
        run = std::min(x.out_count - j, (x.count - (at + x.end)) / x.stride + 1);
      }
      if (begin < end) {
        passes.pool_row(from + at * plane_lanes, begin, end, x.stride, scale, run, to + j * plane_lanes);
      }
      j += run;
    }
  };
  for (const PlaneRect& rect : plane.rects()) {
    for (const Index coarse_y : rows_.list) {
      const PooledAxis y(step.size.height, step.strides.height, step.offset.height, rect.second_y - rect.first_y,
                         rect.first_y, rect.rows, coarse_y, grid_.height);
      if (y.begin >= y.end) continue;
      for (const Index coarse_x : cols_.list) {
        const PooledAxis x(step.size.width, step.strides.width, step.offset.width, rect.second_x - rect.first_x,
                           rect.first_x, rect.cols, coarse_x, grid_.width);
        if (x.begin >= x.end) continue;
        for (Index k = 0; k < state.arrays(); ++k) {
          T* to = this->plane(k, coarse_y, coarse_x);
          const T* from = state.array(k) + (rect.row * plane.cols + rect.col) * plane_lanes;
          for (Index i = 0; i < y.out_count; ++i) {
            for (Index a = y.begin; a < y.end; ++a) {
              const Index row = y.source(y.out_first + i, a);
              if (row < 0 || row >= y.count) continue;
              add_row(x, from + row * plane.cols * plane_lanes, to + i * x.out_count * plane_lanes);
            }
          }
        }
      }
    }
  }
}

template class PlaneSpill<float>;
template class PlaneSpill<double>;

}  // namespace widelimit::cpu
