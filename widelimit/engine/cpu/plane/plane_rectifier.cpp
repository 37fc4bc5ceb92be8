#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/plane/plane_rectifier.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; the -inl headers must follow it.
#include "widelimit/engine/cpu/plane/plane-inl.hpp"
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

/// Polynomials and constants of one pass. With t = 1 − |ρ| and w = √t·t·Q(t)/π:
///   ρ ≥ 0:  aρ + bκ₁ = 1 − t(1 − √t·Q),    a + bκ₀ = 1 − √t·P
///   ρ < 0:  aρ + bκ₁ = −a + t(a + √t·Q),   a + bκ₀ = a + √t·P
/// where P, Q are those of arccos_polynomials.hpp times b/π; h multiplies P, 1 and a if it is the same for all lanes.
template <typename T>
struct Bend {
  static constexpr std::size_t p_size = std::size(PlanePolynomials<T>::p);
  static constexpr std::size_t q_size = std::size(PlanePolynomials<T>::q);
  T p[p_size];
  T q[q_size];
  T linear;
  T dot_one;
  T dot_linear;
  T limit;  ///< |ρ| from here on counts as 1

  Bend(const RectifierPass<T>& pass, T h) {
    const T scale = pass.bend * std::numbers::inv_pi_v<T>;
    for (std::size_t k = 0; k < p_size; ++k) p[k] = PlanePolynomials<T>::p[k] * scale * h;
    for (std::size_t k = 0; k < q_size; ++k) q[k] = PlanePolynomials<T>::q[k] * scale;
    linear = pass.linear;
    dot_one = h;
    dot_linear = pass.linear * h;
    limit = 1 - pass.equal;
  }
};

/// One contiguous segment of a row.
template <typename T>
struct Segment {
  RowSum<T> sum;        ///< at the first element
  const T* inverse[2];  ///< row and column side
  const T* deviation[2];
  T* to;
  Index to_stride;
  Index size;
  Index channels;
};

/// a + bκ for κ₁ and h·κ₀ of one vector.
template <class V>
struct Bent {
  V value;
  V dot;
};

template <bool Signed, class D, class V, typename T>
HWY_INLINE Bent<V> bent(D d, const Bend<T>& bend, V rho) {
  const auto one = hn::Set(d, T(1));
  const auto magnitude = Signed ? hn::Abs(rho) : rho;
  const auto t = hn::IfThenElseZero(hn::Lt(magnitude, hn::Set(d, bend.limit)), hn::Sub(one, magnitude));
  const auto root = hn::Sqrt(t);
  const auto p = horner(d, bend.p, t);
  const auto q = horner(d, bend.q, t);
  auto value = hn::NegMulAdd(t, hn::NegMulAdd(root, q, one), one);
  auto dot = hn::NegMulAdd(root, p, hn::Set(d, bend.dot_one));
  if constexpr (Signed) {
    const auto negative = hn::Lt(rho, hn::Zero(d));
    const auto linear = hn::Set(d, bend.linear);
    value = hn::IfThenElse(negative, hn::MulSub(t, hn::MulAdd(root, q, linear), linear), value);
    dot = hn::IfThenElse(negative, hn::MulAdd(root, p, hn::Set(d, bend.dot_linear)), dot);
  }
  return {value, dot};
}

template <bool Varies, bool Signed, bool Plain, bool One, typename T>
HWY_INLINE void bend_segment(const Bend<T>& bend, const RectifierPass<T>& pass, const Segment<T>& at) {
  const LaneTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const T trained = pass.trained_begin < pass.trained_end ? T(1) : T(0);
  for (Index k = 0; k < at.size; k += lanes) {
    const auto window_sum = [&](Index m) HWY_ATTR {
      return hn::Add(hn::Add(hn::LoadU(d, at.sum.rows[0] + m * at.sum.stride[0] + k),
                             hn::LoadU(d, at.sum.rows[1] + m * at.sum.stride[1] + k)),
                     hn::LoadU(d, at.sum.rows[2] + m * at.sum.stride[2] + k));
    };
    const Index lane = k % plane_lanes;
    auto sigma = window_sum(0);
    if constexpr (!Plain) {
      sigma = hn::MulAdd(hn::LoadU(d, pass.gain + lane), sigma, hn::LoadU(d, pass.constant + lane));
    }
    const auto inverse = hn::Mul(row_value<Varies>(d, at.inverse[0], k), hn::LoadU(d, at.inverse[1] + k));
    auto [value, dot] = bent<Signed>(d, bend, hn::Mul(sigma, inverse));
    if constexpr (!Plain) dot = hn::Mul(dot, hn::LoadU(d, pass.theta_gain + lane));
    const auto bend_theta = [&, dot = dot](Index m, T weight) HWY_ATTR {
      auto theta = window_sum(m);
      if constexpr (!Plain) theta = hn::Mul(theta, hn::LoadU(d, pass.gain + lane));
      hn::StoreU(hn::Mul(hn::MulAdd(hn::Set(d, weight), sigma, theta), dot), d, at.to + m * at.to_stride + k);
    };
    if constexpr (One) {
      bend_theta(1, trained);
    } else {
      for (Index m = 0; m < at.channels; ++m) {
        bend_theta(m + 1, m >= pass.trained_begin && m < pass.trained_end ? T(1) : T(0));
      }
    }
    const auto deviation = hn::Mul(row_value<Varies>(d, at.deviation[0], k), hn::LoadU(d, at.deviation[1] + k));
    hn::StoreU(hn::Mul(value, deviation), d, at.to + k);
  }
}

/// The rows that a 3×3 window reads for one row of a plane; rows outside are zero.
template <typename T>
struct Rows {
  const T* above;
  const T* here;
  const T* below;

  Rows(const Plane& plane, const T* array, Index y, const T* zero)
      : above(y > 0 ? array + (y - 1) * plane.cols * plane_lanes : zero),
        here(array + y * plane.cols * plane_lanes),
        below(y + 1 < plane.rows ? array + (y + 1) * plane.cols * plane_lanes : zero) {}

  template <class D>
  HWY_INLINE hn::Vec<D> column(D d, Index k) const {
    return hn::Add(hn::Add(hn::LoadU(d, above + k), hn::LoadU(d, here + k)), hn::LoadU(d, below + k));
  }
};

/// Fast path for the most common case: 3×3 windows, stride 1, one tangent. Columns are summed first and kept in
/// registers along the row, so no sums are stored; `to` must not alias `from`.
template <bool Varies, bool Signed, bool Plain, typename T>
void bend_squares(const RectifierPass<T>& pass, const Plane& plane, const PlaneState<T>& from, const PlaneState<T>& to,
                  T* scratch) {
  const LaneTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Bend<T> bend(pass, Plain ? pass.theta_scale : T(1));
  const auto trained = hn::Set(d, pass.trained_begin < pass.trained_end ? T(1) : T(0));
  const Index row = plane.cols * plane_lanes;
  std::fill_n(scratch, row, T(0));
  for (Index y = 0; y < plane.rows; ++y) {
    const Index p = first_position(plane, plane.parts[0], y) * (Varies ? plane_lanes : 1);
    const Index q = second_position(plane, plane.parts[0], y) * plane_lanes;
    const Rows<T> sigmas(plane, from.data, y, scratch);
    const Rows<T> thetas(plane, from.array(1), y, scratch);
    for (Index v = 0; v < plane_lanes; v += lanes) {
      const auto bend_at = [&](Index k, V sigma, V theta) HWY_ATTR {
        if constexpr (!Plain) {
          const auto gain = hn::LoadU(d, pass.gain + v);
          sigma = hn::MulAdd(gain, sigma, hn::LoadU(d, pass.constant + v));
          theta = hn::Mul(gain, theta);
        }
        const auto inverse =
            hn::Mul(row_value<Varies>(d, pass.inverse.row + p, k), hn::LoadU(d, pass.inverse.col + q + k));
        auto result = bent<Signed>(d, bend, hn::Mul(sigma, inverse));
        if constexpr (!Plain) result.dot = hn::Mul(result.dot, hn::LoadU(d, pass.theta_gain + v));
        hn::StoreU(hn::Mul(hn::MulAdd(trained, sigma, theta), result.dot), d, to.array(1) + y * row + k);
        const auto deviation =
            hn::Mul(row_value<Varies>(d, pass.deviation.row + p, k), hn::LoadU(d, pass.deviation.col + q + k));
        hn::StoreU(hn::Mul(result.value, deviation), d, to.data + y * row + k);
      };
      auto left = hn::Zero(d);
      auto left_theta = hn::Zero(d);
      auto middle = sigmas.column(d, v);
      auto middle_theta = thetas.column(d, v);
      Index k = v;
      for (; k + plane_lanes < row; k += plane_lanes) {
        const auto right = sigmas.column(d, k + plane_lanes);
        const auto right_theta = thetas.column(d, k + plane_lanes);
        bend_at(k, hn::Add(hn::Add(left, middle), right), hn::Add(hn::Add(left_theta, middle_theta), right_theta));
        left = middle, left_theta = middle_theta;
        middle = right, middle_theta = right_theta;
      }
      bend_at(k, hn::Add(left, middle), hn::Add(left_theta, middle_theta));
    }
  }
}

template <bool Varies, bool Signed, bool Plain, bool One, typename T>
void bend_plane(const RectifierPass<T>& pass, const Plane& plane, const PlaneState<T>& from, const PlaneState<T>& to,
                T* scratch) {
  const Bend<T> bend(pass, Plain ? pass.theta_scale : T(1));
  RollingRows<T> rolling(pass.window, plane, from, scratch);
  const Index row_step = Varies ? plane_lanes : 1;
  std::size_t first = 0;  // parts are ordered by row, so those that contain row y are adjacent
  for (Index y = 0; y < plane.rows; ++y) {
    const RowSum<T> sum = rolling.row(y);
    while (y >= plane.parts[first].row + plane.parts[first].rows) ++first;
    for (std::size_t i = first; i < plane.part_count && plane.parts[i].row == plane.parts[first].row; ++i) {
      const PlaneRect& rect = plane.parts[i];
      const Index p = first_position(plane, rect, y - rect.row) * row_step;
      const Index q = second_position(plane, rect, y - rect.row) * plane_lanes;
      const Index at = rect.col * plane_lanes;
      bend_segment<Varies, Signed, Plain, One>(bend, pass,
                                               Segment<T>{{{sum.rows[0] + at, sum.rows[1] + at, sum.rows[2] + at},
                                                           {sum.stride[0], sum.stride[1], sum.stride[2]}},
                                                          {pass.inverse.row + p, pass.inverse.col + q},
                                                          {pass.deviation.row + p, pass.deviation.col + q},
                                                          to.data + y * plane.cols * plane_lanes + at,
                                                          to.stride,
                                                          rect.cols * plane_lanes,
                                                          to.channels});
    }
  }
}

/// Dispatches to the variants that matter for speed; the rare case of varying row images has a single variant.
template <typename T>
void bend_squares_of(const RectifierPass<T>& pass, const Plane& plane, const PlaneState<T>& from,
                     const PlaneState<T>& to, T* scratch) {
  if (pass.inverse.row_varies) return bend_squares<true, true, false>(pass, plane, from, to, scratch);
  if (!pass.plain) return bend_squares<false, true, false>(pass, plane, from, to, scratch);
  if (pass.nonnegative) return bend_squares<false, false, true>(pass, plane, from, to, scratch);
  return bend_squares<false, true, true>(pass, plane, from, to, scratch);
}

template <typename T>
void bend_of(const RectifierPass<T>& pass, const Plane& plane, const PlaneState<T>& from, const PlaneState<T>& to,
             T* scratch) {
  const bool one = to.channels == 1;
  if (one && pass.window.is_square()) return bend_squares_of(pass, plane, from, to, scratch);
  if (pass.inverse.row_varies) return bend_plane<true, true, false, false>(pass, plane, from, to, scratch);
  if (!pass.plain) return bend_plane<false, true, false, false>(pass, plane, from, to, scratch);
  if (!one) return bend_plane<false, true, true, false>(pass, plane, from, to, scratch);
  if (pass.nonnegative) return bend_plane<false, false, true, true>(pass, plane, from, to, scratch);
  return bend_plane<false, true, true, true>(pass, plane, from, to, scratch);
}

void bend_f32(const RectifierPass<float>& pass, const Plane& plane, const PlaneState<float>& from,
              const PlaneState<float>& to, float* scratch) {
  bend_of(pass, plane, from, to, scratch);
}
void bend_f64(const RectifierPass<double>& pass, const Plane& plane, const PlaneState<double>& from,
              const PlaneState<double>& to, double* scratch) {
  bend_of(pass, plane, from, to, scratch);
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(bend_f32);
HWY_EXPORT(bend_f64);

template <>
void rectifier_pass(const RectifierPass<float>& pass, const Plane& plane, const PlaneState<float>& from,
                    const PlaneState<float>& to, float* scratch) {
  HWY_DYNAMIC_DISPATCH(bend_f32)(pass, plane, from, to, scratch);
}
template <>
void rectifier_pass(const RectifierPass<double>& pass, const Plane& plane, const PlaneState<double>& from,
                    const PlaneState<double>& to, double* scratch) {
  HWY_DYNAMIC_DISPATCH(bend_f64)(pass, plane, from, to, scratch);
}

}  // namespace widelimit::cpu
#endif
