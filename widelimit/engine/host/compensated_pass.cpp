#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/compensated_pass.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/host/compensated_pass.hpp"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

HWY_INLINE V load(D d, const double* from) { return hn::LoadU(d, from); }
HWY_INLINE V load(D d, const float* from) {
  const hn::Rebind<float, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, from));
}

#if HWY_NATIVE_FMA
/// a·b − product, which one fused operation gives exactly.
HWY_INLINE V product_rest(D, V a, V b, V product) { return hn::MulSub(a, b, product); }
#else
/// The same through halves of 26 digits, whose products are exact (Dekker 1971). Beyond 2⁹⁹⁵ the halves overflow.
HWY_INLINE V upper_half(D d, V a) {
  const V scaled = hn::Mul(hn::Set(d, 134217729.0), a);
  return hn::Sub(scaled, hn::Sub(scaled, a));
}
HWY_INLINE V product_rest(D d, V a, V b, V product) {
  const V a_high = upper_half(d, a);
  const V b_high = upper_half(d, b);
  const V a_low = hn::Sub(a, a_high);
  const V b_low = hn::Sub(b, b_high);
  const V most = hn::Sub(hn::Mul(a_high, b_high), product);
  return hn::Add(hn::Add(hn::Add(most, hn::Mul(a_high, b_low)), hn::Mul(a_low, b_high)), hn::Mul(a_low, b_low));
}
#endif

template <typename T>
void accumulate_in(const T* column, double by, double* high, double* low, Index size) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const V factor = hn::Set(d, by);
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    const V entry = load(d, column + k);
    const V product = hn::Mul(factor, entry);
    const V before = hn::LoadU(d, high + k);
    const V sum = hn::Add(before, product);
    const V part = hn::Sub(sum, before);
    const V lost = hn::Add(hn::Sub(before, hn::Sub(sum, part)), hn::Sub(product, part));
    hn::StoreU(sum, d, high + k);
    hn::StoreU(hn::Add(hn::LoadU(d, low + k), hn::Add(lost, product_rest(d, factor, entry, product))), d, low + k);
  }
  for (; k < size; ++k) {
    const auto entry = static_cast<double>(column[k]);
    const double product = by * entry;
    const double sum = high[k] + product;
    const double part = sum - high[k];
    low[k] += ((high[k] - (sum - part)) + (product - part)) + std::fma(by, entry, -product);
    high[k] = sum;
  }
}

void accumulate_f32(const float* column, double by, double* high, double* low, Index size) {
  accumulate_in(column, by, high, low, size);
}
void accumulate_f64(const double* column, double by, double* high, double* low, Index size) {
  accumulate_in(column, by, high, low, size);
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(accumulate_f32);
HWY_EXPORT(accumulate_f64);

void accumulate(const float* column, double by, double* high, double* low, Index size) {
  HWY_DYNAMIC_DISPATCH(accumulate_f32)(column, by, high, low, size);
}
void accumulate(const double* column, double by, double* high, double* low, Index size) {
  HWY_DYNAMIC_DISPATCH(accumulate_f64)(column, by, high, low, size);
}

}  // namespace widelimit::host
#endif
