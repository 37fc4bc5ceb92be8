#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/vector/hermite_sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/cpu/vector/hermite_sums.hpp"

#include <cmath>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Computes Σ f·ψ_k and Σ g·ψ_k, and replaces ψ_k by ψ_{k+2}.
template <bool both>
HWY_INLINE void hermite_step(Index count, const double* z, const double* f, const double* g, double a, double b,
                             double* current, const double* next, double* sum, double* more) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto rise = hn::Set(d, a);
  const auto fall = hn::Set(d, b);
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  for (Index q = 0; q < count; q += lanes) {
    const auto psi = hn::LoadU(d, current + q);
    first = hn::MulAdd(hn::LoadU(d, f + q), psi, first);
    if (both) second = hn::MulAdd(hn::LoadU(d, g + q), psi, second);
    const auto risen = hn::Mul(rise, hn::Mul(hn::LoadU(d, z + q), hn::LoadU(d, next + q)));
    hn::StoreU(hn::NegMulAdd(fall, psi, risen), d, current + q);
  }
  *sum = hn::GetLane(hn::SumOfLanes(d, first));
  if (both) *more = hn::GetLane(hn::SumOfLanes(d, second));
}

void hermite_sums_of(const HermiteNodes& nodes, const HermiteNodes& more, int count, HermiteState& state, double* sums,
                     double* more_sums) {
  for (int i = 0; i < count; ++i) {
    const bool even = state.k % 2 == 0;
    const double* f = even ? nodes.even : nodes.odd;
    // ψ_{k+2} = (z ψ_{k+1} − √(k+1) ψ_k)/√(k+2).
    const double scale = 1 / std::sqrt(static_cast<double>(state.k) + 2);
    const double fall = std::sqrt(static_cast<double>(state.k) + 1) * scale;
    if (more.count > 0) {
      hermite_step<true>(nodes.count, nodes.z, f, even ? more.even : more.odd, scale, fall, state.current, state.next,
                         sums + i, more_sums + i);
    } else {
      hermite_step<false>(nodes.count, nodes.z, f, nullptr, scale, fall, state.current, state.next, sums + i, nullptr);
    }
    std::swap(state.current, state.next);
    ++state.k;
  }
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(hermite_sums_of);

void hermite_sums(const HermiteNodes& nodes, const HermiteNodes& more, int count, HermiteState& state, double* sums,
                  double* more_sums) {
  HWY_DYNAMIC_DISPATCH(hermite_sums_of)(nodes, more, count, state, sums, more_sums);
}

}  // namespace widelimit::cpu
#endif
