#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/residual.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/enclosure/lifted.hpp"
#include "widelimit/engine/host/residual.hpp"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Sums over vectors in two partial sums; term(j, sum, load) adds the term of the vector that begins at j.
template <class D, class F>
HWY_INLINE double sum_of(D d, Index size, const F& term) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  Index j = 0;
  for (; j + 2 * lanes <= size; j += 2 * lanes) {
    even = term(j, even, [&](const double* from) HWY_ATTR { return hn::LoadU(d, from); });
    odd = term(j + lanes, odd, [&](const double* from) HWY_ATTR { return hn::LoadU(d, from); });
  }
  for (; j < size; j += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, size - j)));
    even = term(j, even, [&](const double* from) HWY_ATTR { return hn::MaskedLoad(inside, d, from); });
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

Residual residual_sums(const ResidualFrame& frame, const double* x, bool euclidean, double offset) {
  const hn::ScalableTag<double> d;
  Residual result;
  result.inner = sum_of(d, frame.size, [&](Index j, auto sum, const auto& load) HWY_ATTR {
    return hn::MulAdd(load(x + j), load(frame.centre + j), sum);
  });
  const auto t = hn::Set(d, residual_place(result.inner, offset, frame.norm));
  const auto residual = [&](Index j, const auto& load)
                            HWY_ATTR { return hn::NegMulAdd(t, load(frame.unit + j), load(x + j)); };
  if (euclidean) {
    result.reach = std::sqrt(sum_of(d, frame.size, [&](Index j, auto sum, const auto& load) HWY_ATTR {
      const auto y = residual(j, load);
      return hn::MulAdd(y, y, sum);
    }));
  } else {
    result.reach = sum_of(d, frame.size, [&](Index j, auto sum, const auto& load) HWY_ATTR {
      return hn::MulAdd(hn::Abs(residual(j, load)), load(frame.half + j), sum);
    });
  }
  return result;
}

void residual_row(const ResidualFrame& frame, const double* x, double t, double root, float* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half_width;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto part = hn::Set(d, t), factor = hn::Set(d, root);
  Index j = 0;
  for (; j + lanes <= frame.size; j += lanes) {
    const auto y = hn::NegMulAdd(part, hn::LoadU(d, frame.unit + j), hn::LoadU(d, x + j));
    const auto scaled = hn::Mul(hn::Mul(factor, hn::LoadU(d, frame.half + j)), y);
    hn::StoreU(hn::DemoteTo(half_width, scaled), half_width, to + j);
  }
  for (; j < frame.size; ++j) to[j] = static_cast<float>(root * frame.half[j] * (x[j] - t * frame.unit[j]));
}

void scaled_sum(Index count, double factor, const float* from, double* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half_width;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  Index k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto wide = hn::PromoteTo(d, hn::LoadU(half_width, from + k));
    hn::StoreU(hn::MulAdd(factors, wide, hn::LoadU(d, to + k)), d, to + k);
  }
  for (; k < count; ++k) to[k] += factor * static_cast<double>(from[k]);
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(residual_sums);
HWY_EXPORT(residual_row);
HWY_EXPORT(scaled_sum);

Residual residual_of(const ResidualFrame& frame, const double* x, bool euclidean, double offset) {
  return HWY_DYNAMIC_DISPATCH(residual_sums)(frame, x, euclidean, offset);
}
void write_residual(const ResidualFrame& frame, const double* x, double t, double root, float* to) {
  HWY_DYNAMIC_DISPATCH(residual_row)(frame, x, t, root, to);
}
void add_scaled(Index count, double factor, const float* from, double* to) {
  HWY_DYNAMIC_DISPATCH(scaled_sum)(count, factor, from, to);
}

}  // namespace widelimit::host
#endif
