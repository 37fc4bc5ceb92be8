#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/plane/plane_pass.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; plane-inl.hpp must follow it.
#include "widelimit/engine/cpu/plane/plane-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

template <typename T>
void window_of(const PlaneWindow& window, T scale, const Plane& plane, const PlaneState<T>& from,
               const PlaneState<T>& to, T* scratch) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  const Index row = plane.cols * plane_lanes;
  RollingRows<T> rolling(window, plane, from, scratch);
  for (Index y = 0; y < plane.rows; ++y) {
    const RowSum<T> sum = rolling.row(y);
    for (Index m = 0; m < from.arrays(); ++m) {
      for (Index k = 0; k < row; k += lanes) {
        const auto value = hn::Add(hn::Add(hn::LoadU(d, sum.rows[0] + m * sum.stride[0] + k),
                                           hn::LoadU(d, sum.rows[1] + m * sum.stride[1] + k)),
                                   hn::LoadU(d, sum.rows[2] + m * sum.stride[2] + k));
        hn::StoreU(hn::Mul(factor, value), d, to.array(m) + y * row + k);
      }
    }
  }
}

template <bool Varies, typename T>
void input_rows(const PlaneFeature<T>& x, Index channels, const Plane& plane, const PlaneState<T>& to) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index row_step = Varies ? plane_lanes : 1;
  each_segment(plane, [&](const PlaneRect& rect, Index y, Index at) HWY_ATTR {
    const T* row = x.row + first_position(plane, rect, y) * channels * row_step;
    const T* col = x.col + second_position(plane, rect, y) * channels * plane_lanes;
    for (Index i = 0; i < rect.cols; ++i, row += channels * row_step, col += channels * plane_lanes) {
      for (Index v = 0; v < plane_lanes; v += lanes) {
        auto sum = hn::Zero(d);
        for (Index c = 0; c < channels; ++c) {
          sum =
              hn::MulAdd(row_value<Varies>(d, row, c * plane_lanes + v), hn::LoadU(d, col + c * plane_lanes + v), sum);
        }
        hn::StoreU(sum, d, to.data + at + i * plane_lanes + v);
      }
    }
  });
  for (Index m = 1; m < to.arrays(); ++m) std::fill_n(to.array(m), plane.size(), T(0));
}

template <typename T>
void input_of(const PlaneFeature<T>& x, Index channels, const Plane& plane, const PlaneState<T>& to) {
  if (x.row_varies) {
    input_rows<true>(x, channels, plane, to);
  } else {
    input_rows<false>(x, channels, plane, to);
  }
}

template <bool Varies, typename T>
void scale_rows(const PlaneFeature<T>& f, const Plane& plane, const PlaneState<T>& state) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  each_segment(plane, [&](const PlaneRect& rect, Index y, Index at) HWY_ATTR {
    const T* row = f.row + first_position(plane, rect, y) * (Varies ? plane_lanes : 1);
    const T* col = f.col + second_position(plane, rect, y) * plane_lanes;
    for (Index k = 0; k < rect.cols * plane_lanes; k += lanes) {
      const auto factor = hn::Mul(row_value<Varies>(d, row, k), hn::LoadU(d, col + k));
      for (Index m = 0; m < state.arrays(); ++m) {
        T* value = state.array(m) + at + k;
        hn::StoreU(hn::Mul(factor, hn::LoadU(d, value)), d, value);
      }
    }
  });
}

template <typename T>
void scale_of(const PlaneFeature<T>& f, const Plane& plane, const PlaneState<T>& state) {
  if (f.row_varies) {
    scale_rows<true>(f, plane, state);
  } else {
    scale_rows<false>(f, plane, state);
  }
}

template <typename T>
void affine_of(const T* gain, const T* constant, Index begin, Index end, const Plane& plane,
               const PlaneState<T>& state) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index k = 0; k < plane.size(); k += lanes) {
    const auto g = hn::LoadU(d, gain + k % plane_lanes);
    const auto sigma = hn::MulAdd(g, hn::LoadU(d, state.data + k), hn::LoadU(d, constant + k % plane_lanes));
    hn::StoreU(sigma, d, state.data + k);
    for (Index m = 0; m < state.channels; ++m) {
      T* theta = state.array(1 + m) + k;
      const auto scaled = hn::Mul(g, hn::LoadU(d, theta));
      hn::StoreU(m >= begin && m < end ? hn::Add(scaled, sigma) : scaled, d, theta);
    }
  }
}

template <typename T>
void join_of(const T* gain, const T* other_gain, const Plane& plane, const PlaneState<T>& other,
             const PlaneState<T>& state) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index m = 0; m < state.arrays(); ++m) {
    for (Index k = 0; k < plane.size(); k += lanes) {
      T* value = state.array(m) + k;
      const auto added = hn::Mul(hn::LoadU(d, other_gain + k % plane_lanes), hn::LoadU(d, other.array(m) + k));
      hn::StoreU(hn::MulAdd(hn::LoadU(d, gain + k % plane_lanes), hn::LoadU(d, value), added), d, value);
    }
  }
}

template <typename T>
void total_of(const Plane& plane, const PlaneState<T>& state, double* sums) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  T part[plane_lanes];
  for (Index m = 0; m < state.arrays(); ++m) {
    for (Index y = 0; y < plane.rows; ++y) {
      const T* row = state.array(m) + y * plane.cols * plane_lanes;
      for (Index v = 0; v < plane_lanes; v += lanes) {
        auto sum = hn::Zero(d);
        for (Index x = 0; x < plane.cols; ++x) sum = hn::Add(sum, hn::LoadU(d, row + x * plane_lanes + v));
        hn::StoreU(sum, d, part + v);
      }
      for (Index v = 0; v < plane_lanes; ++v) sums[m * plane_lanes + v] += static_cast<double>(part[v]);
    }
  }
}

template <typename T>
void pool_row_of(const T* from, Index begin, Index end, Index stride, T scale, Index count, T* to) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  for (Index j = 0; j < count; ++j) {
    for (Index v = 0; v < plane_lanes; v += lanes) {
      auto sum = hn::Zero(d);
      for (Index a = begin; a < end; ++a) {
        sum = hn::Add(sum, hn::LoadU(d, from + (stride * j + a) * plane_lanes + v));
      }
      T* value = to + j * plane_lanes + v;
      hn::StoreU(hn::MulAdd(factor, sum, hn::LoadU(d, value)), d, value);
    }
  }
}

void correlation_of(double* rho, double* t, Index size, double equal) {
  const LaneTag<double> d;
  const auto one = hn::Set(d, 1.0);
  for (Index k = 0; k < size; k += static_cast<Index>(hn::Lanes(d))) {
    const auto value = hn::LoadU(d, rho + k);
    const auto rest = hn::Sub(one, hn::Abs(value));
    const auto same = hn::Lt(rest, hn::Set(d, equal));
    hn::StoreU(hn::IfThenElse(same, hn::CopySign(one, value), value), d, rho + k);
    hn::StoreU(hn::IfThenZeroElse(same, rest), d, t + k);
  }
}

template <typename T>
const PlanePasses<T>& passes_of() {
  static constexpr PlanePasses<T> passes{window_of<T>, input_of<T>, scale_of<T>,    affine_of<T>,
                                         join_of<T>,   total_of<T>, pool_row_of<T>, correlation_of};
  return passes;
}
const PlanePasses<float>& passes_f32() { return passes_of<float>(); }
const PlanePasses<double>& passes_f64() { return passes_of<double>(); }

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(passes_f32);
HWY_EXPORT(passes_f64);

template <>
const PlanePasses<float>& plane_passes() {
  return HWY_DYNAMIC_DISPATCH(passes_f32)();
}
template <>
const PlanePasses<double>& plane_passes() {
  return HWY_DYNAMIC_DISPATCH(passes_f64)();
}

}  // namespace widelimit::cpu
#endif
