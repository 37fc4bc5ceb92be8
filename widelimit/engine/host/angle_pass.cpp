#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/angle_pass.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "widelimit/engine/host/angle_pass.hpp"

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Computes the pairs from `k` on that fill one vector. Inner products follow from centred ones: ⟨x, x'⟩ = Σ(x_k −
/// mean)(x'_k − mean') + length·mean·mean'.
template <typename D>
HWY_INLINE void angles(D d, const AngleSide& left, Index at, const AngleSide& right, Index first, double length,
                       double width, const AngleRow& row, Index k) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0);
  const V zero = hn::Zero(d);
  const Index q = first + k;
  const V mean = hn::LoadU(d, right.mean + q);
  const V rest = hn::Mul(hn::Set(d, 1 - left.mean[at]), hn::Sub(one, mean));
  const V covariance = hn::Add(hn::LoadU(d, row.products + k), rest);
  const V inner = hn::Add(covariance, hn::Mul(hn::Set(d, length * left.mean[at]), mean));
  const V norms = hn::Mul(hn::Set(d, left.norm[at]), hn::LoadU(d, right.norm + q));
  const V cosine = hn::Clamp(hn::Div(inner, norms), hn::Neg(one), one);
  const V squares = hn::Add(hn::Set(d, left.square[at]), hn::LoadU(d, right.square + q));
  const V square = hn::Max(zero, hn::Sub(squares, hn::Add(inner, inner)));
  const V deviations = hn::Mul(hn::Set(d, left.inverse[at]), hn::LoadU(d, right.inverse + q));
  hn::StoreU(inner, d, row.inner + k);
  hn::StoreU(cosine, d, row.cosine + k);
  hn::StoreU(square, d, row.square + k);
  hn::StoreU(norms, d, row.norms + k);
  hn::StoreU(hn::Sqrt(hn::Mul(hn::Sub(one, cosine), hn::Add(one, cosine))), d, row.sine + k);
  hn::StoreU(hn::Acos(d, cosine), d, row.angle + k);
  // Below −745 the exponential is 0, and the vectorised one is not valid there.
  hn::StoreU(hn::Exp(d, hn::Max(hn::Set(d, -746.0), hn::Div(square, hn::Set(d, -width)))), d, row.radial + k);
  hn::StoreU(hn::Clamp(hn::Mul(covariance, deviations), hn::Neg(one), one), d, row.correlation + k);
}

void pass(const AngleSide& left, Index at, const AngleSide& right, Index first, Index size, double length, double width,
          const AngleRow& row) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index k = 0;
  for (; k + lanes <= size; k += lanes) angles(d, left, at, right, first, length, width, row, k);
  for (; k < size; ++k) angles(hn::CappedTag<double, 1>(), left, at, right, first, length, width, row, k);
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(pass);

void angle_pass(const AngleSide& left, Index at, const AngleSide& right, Index first, Index size, double length,
                double width, const AngleRow& row) {
  HWY_DYNAMIC_DISPATCH(pass)(left, at, right, first, size, length, width, row);
}

}  // namespace widelimit::host
#endif
