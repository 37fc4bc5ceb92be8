// Window sums over rows of planes, shared by several files. Included once per target by Highway's foreach_target, hence
// no #pragma once; the guard is Highway's own idiom.
#if defined(WIDELIMIT_CPU_PLANE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDELIMIT_CPU_PLANE_INL
#undef WIDELIMIT_CPU_PLANE_INL
#else
#define WIDELIMIT_CPU_PLANE_INL
#endif

#include "widelimit/engine/cpu/plane/plane.hpp"

#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors are capped at the 16 lanes of an element.
template <typename T>
using LaneTag = hn::CappedTag<T, static_cast<std::size_t>(plane_lanes)>;

/// Loads the row-side value of lane k.
template <bool Varies, class D, typename T>
HWY_INLINE hn::Vec<D> row_value(D d, const T* row, Index k) {
  if constexpr (Varies) {
    return hn::LoadU(d, row + k);
  } else {
    return hn::Set(d, row[k / plane_lanes]);
  }
}

/// Computes to[j] = Σ_a from[stride·j − offset + a] along one row.
template <typename T>
void window_along(const PlaneWindow& window, Index cols, const T* from, T* to) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index before = window.cols_before;
  if (window.size.width == 3 && window.strides.width == 1 && window.offset.width == 1 && !window.wraps) {
    for (Index v = 0; v < plane_lanes; v += lanes) {
      auto left = hn::Zero(d);
      auto here = hn::LoadU(d, from + v);
      Index x = 0;
      // Two outputs share the sum of the two middle elements.
      for (; x + 2 < cols; x += 2) {
        const auto right = hn::LoadU(d, from + (x + 1) * plane_lanes + v);
        const auto after = hn::LoadU(d, from + (x + 2) * plane_lanes + v);
        const auto middle = hn::Add(here, right);
        hn::StoreU(hn::Add(left, middle), d, to + x * plane_lanes + v);
        hn::StoreU(hn::Add(middle, after), d, to + (x + 1) * plane_lanes + v);
        left = right;
        here = after;
      }
      if (x + 1 < cols) {
        const auto right = hn::LoadU(d, from + (x + 1) * plane_lanes + v);
        const auto middle = hn::Add(here, right);
        hn::StoreU(hn::Add(left, middle), d, to + x * plane_lanes + v);
        hn::StoreU(middle, d, to + (x + 1) * plane_lanes + v);
      } else {
        hn::StoreU(hn::Add(left, here), d, to + x * plane_lanes + v);
      }
    }
    return;
  }
  for (Index x = 0; x < cols; ++x) {
    const Index begin = x * window.strides.width - window.offset.width;
    for (Index v = 0; v < plane_lanes; v += lanes) {
      auto sum = hn::Zero(d);
      for (Index source = begin; source < begin + window.size.width; ++source) {
        const Index at = window.wraps ? (source % before + before) % before : source;
        if (at >= 0 && at < before) sum = hn::Add(sum, hn::LoadU(d, from + at * plane_lanes + v));
      }
      hn::StoreU(sum, d, to + x * plane_lanes + v);
    }
  }
}

/// The three rows whose sum is the window sum of a row; array k is k strides further on.
template <typename T>
struct RowSum {
  const T* rows[3];
  Index stride[3];
};

/// Sums along rows, kept in a ring buffer as long as a window needs them.
template <typename T>
class RollingRows {
 public:
  RollingRows(const PlaneWindow& window, const Plane& plane, const PlaneState<T>& from, T* scratch)
      : window_(window), from_(from), cols_(plane.cols), row_(plane.cols * plane_lanes), memory_(scratch) {
    const Index slots = window.size.height;
    zero_ = scratch + slots * row_ * from.arrays();
    rest_ = zero_ + row_ * from.arrays();
    std::fill_n(zero_, row_ * from.arrays(), T(0));
    next_ = -window.offset.height;
  }

  /// Returns the window sum of row j; rows must be requested in ascending order.
  RowSum<T> row(Index j) {
    if (!window_.moves()) {
      return {{from_.data + j * row_, zero_, zero_}, {from_.stride, row_, row_}};
    }
    const Index begin = j * window_.strides.height - window_.offset.height;
    const Index end = begin + window_.size.height;
    if (j > 0) first_slot_ += window_.strides.height;
    while (first_slot_ >= window_.size.height) first_slot_ -= window_.size.height;
    for (next_ = std::max(next_, begin); next_ < end; ++next_) fill(next_, slot(next_ - begin));
    RowSum<T> sum{{zero_, zero_, zero_}, {row_, row_, row_}};
    for (Index a = 0; a < std::min(end - begin, Index{3}); ++a) sum.rows[a] = inside(begin + a) ? slot(a) : zero_;
    if (end - begin > 3) {
      add_rest(begin);
      sum.rows[2] = rest_;
    }
    return sum;
  }

 private:
  [[nodiscard]] bool inside(Index i) const { return window_.wraps || (i >= 0 && i < window_.rows_before); }
  /// Returns the memory of row a of the current window.
  [[nodiscard]] T* slot(Index a) const {
    const Index at = first_slot_ + a;
    return memory_ + (at < window_.size.height ? at : at - window_.size.height) * row_ * from_.arrays();
  }
  void fill(Index i, T* to) {
    if (!inside(i)) return;
    const Index before = window_.rows_before;
    const Index source = window_.wraps ? (i % before + before) % before : i;
    for (Index k = 0; k < from_.arrays(); ++k) {
      window_along(window_, cols_, from_.array(k) + source * window_.cols_before * plane_lanes, to + k * row_);
    }
  }
  void add_rest(Index begin) {
    const LaneTag<T> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (Index k = 0; k < row_ * from_.arrays(); k += lanes) {
      auto sum = hn::Zero(d);
      for (Index a = 2; a < window_.size.height; ++a) {
        if (inside(begin + a)) sum = hn::Add(sum, hn::LoadU(d, slot(a) + k));
      }
      hn::StoreU(sum, d, rest_ + k);
    }
  }

  const PlaneWindow& window_;
  const PlaneState<T>& from_;
  Index cols_;
  Index row_;
  T* memory_;
  T* zero_;
  T* rest_;
  Index next_;
  Index first_slot_ = 0;
};

/// Calls f(rect, row of the rect, first element of that row in the plane) for every contiguous row segment.
template <class F>
HWY_INLINE void each_segment(const Plane& plane, const F& f) {
  for (const PlaneRect& rect : plane.rects()) {
    for (Index y = 0; y < rect.rows; ++y) f(rect, y, ((rect.row + y) * plane.cols + rect.col) * plane_lanes);
  }
}

/// Positions of row y of a rect in the two images.
HWY_INLINE Index first_position(const Plane& plane, const PlaneRect& rect, Index y) {
  return (rect.first_y + y) * plane.grid_width + rect.first_x;
}
HWY_INLINE Index second_position(const Plane& plane, const PlaneRect& rect, Index y) {
  return (rect.second_y + y) * plane.grid_width + rect.second_x;
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
