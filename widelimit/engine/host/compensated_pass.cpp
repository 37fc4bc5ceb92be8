#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/compensated_pass.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
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
/// a·b − product, exact with one fused operation.
HWY_INLINE V product_rest(D, V a, V b, V product) { return hn::MulSub(a, b, product); }
#else
/// The same from 26-bit halves, whose products are exact (Dekker 1971). The halves overflow beyond 2⁹⁹⁵.
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

/// high + low += factor·entry, by TwoProduct and TwoSum.
HWY_INLINE void add_product(D d, V factor, V entry, V& high, V& low) {
  const V product = hn::Mul(factor, entry);
  const V sum = hn::Add(high, product);
  const V part = hn::Sub(sum, high);
  const V rounding = hn::Add(hn::Sub(high, hn::Sub(sum, part)), hn::Sub(product, part));
  low = hn::Add(low, hn::Add(rounding, product_rest(d, factor, entry, product)));
  high = sum;
}
inline void add_product(double factor, double entry, double& high, double& low) {
  const double product = factor * entry;
  const double sum = high + product;
  const double part = sum - high;
  low += ((high - (sum - part)) + (product - part)) + std::fma(factor, entry, -product);
  high = sum;
}

/// Number of columns accumulated before high and low are stored.
constexpr Index columns_at_once = 8;

template <Index count, typename T>
void accumulate_few(const T* const* columns, const double* by, double* high, double* low, Index size) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    V sum = hn::LoadU(d, high + k);
    V rest = hn::LoadU(d, low + k);
    for (Index j = 0; j < count; ++j) add_product(d, hn::Set(d, by[j]), load(d, columns[j] + k), sum, rest);
    hn::StoreU(sum, d, high + k);
    hn::StoreU(rest, d, low + k);
  }
  for (; k < size; ++k) {
    for (Index j = 0; j < count; ++j) add_product(by[j], static_cast<double>(columns[j][k]), high[k], low[k]);
  }
}

template <typename T>
void accumulate_in(std::span<const T* const> columns, const double* by, double* high, double* low, Index size) {
  const auto count = static_cast<Index>(columns.size());
  Index j = 0;
  for (; j + columns_at_once <= count; j += columns_at_once) {
    accumulate_few<columns_at_once>(columns.data() + j, by + j, high, low, size);
  }
  for (; j < count; ++j) accumulate_few<1>(columns.data() + j, by + j, high, low, size);
}

void accumulate_f32(std::span<const float* const> columns, const double* by, double* high, double* low, Index size) {
  accumulate_in(columns, by, high, low, size);
}
void accumulate_f64(std::span<const double* const> columns, const double* by, double* high, double* low, Index size) {
  accumulate_in(columns, by, high, low, size);
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(accumulate_f32);
HWY_EXPORT(accumulate_f64);

void accumulate(std::span<const float* const> columns, const double* by, double* high, double* low, Index size) {
  HWY_DYNAMIC_DISPATCH(accumulate_f32)(columns, by, high, low, size);
}
void accumulate(std::span<const double* const> columns, const double* by, double* high, double* low, Index size) {
  HWY_DYNAMIC_DISPATCH(accumulate_f64)(columns, by, high, low, size);
}
void accumulate(const float* column, double by, double* high, double* low, Index size) {
  accumulate({&column, 1}, &by, high, low, size);
}
void accumulate(const double* column, double by, double* high, double* low, Index size) {
  accumulate({&column, 1}, &by, high, low, size);
}

}  // namespace widelimit::host
#endif
