#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/box_pass.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/host/box_pass.hpp"

#include <algorithm>
#include <limits>

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

/// Maximum of each lane and its position. Positions are doubles, exact for any feasible size, so that they share the
/// mask of the values.
struct LaneArgmax {
  V value;
  V at;
  HWY_INLINE void offer(V candidate, V position) {
    const auto better = hn::Gt(candidate, value);
    value = hn::IfThenElse(better, candidate, value);
    at = hn::IfThenElse(better, position, at);
  }
};

HWY_INLINE LaneArgmax start(D d, double least) { return {hn::Set(d, least), hn::Set(d, -1.0)}; }

HWY_INLINE double largest_lane(D d, V v) { return hn::GetLane(hn::MaxOfLanes(d, v)); }

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Ties go to the lowest position, so that the result does not depend on the vector width; −1 if no candidate exceeded
/// the initial value. Branch-free, because a misprediction costs as much as a short pass.
HWY_INLINE ScoredVariable best_of(D d, const LaneArgmax& lead) {
  const V most = hn::MaxOfLanes(d, lead.value);
  const V places = hn::IfThenElse(hn::Eq(lead.value, most), lead.at, hn::Set(d, infinity));
  return {hn::GetLane(most), static_cast<Index>(hn::GetLane(hn::MinOfLanes(d, places)))};
}

template <typename T>
ScoredVariable advance_by(const Moves<T>& moves, const double* up, double* gradient, Index size) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto by_first = hn::Set(d, moves.by_first);
  const auto by_second = hn::Set(d, moves.by_second);
  LaneArgmax lead = start(d, -infinity);
  V position = hn::Iota(d, 0.0);
  const auto stride = hn::Set(d, static_cast<double>(lanes));
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    V g = hn::LoadU(d, gradient + k);
    g = hn::MulAdd(by_first, load(d, moves.first + k), g);
    g = hn::MulAdd(by_second, load(d, moves.second + k), g);
    hn::StoreU(g, d, gradient + k);
    lead.offer(hn::Neg(hn::Add(g, hn::LoadU(d, up + k))), position);
    position = hn::Add(position, stride);
  }
  ScoredVariable best = best_of(d, lead);
  for (; k < size; ++k) {
    gradient[k] +=
        moves.by_first * static_cast<double>(moves.first[k]) + moves.by_second * static_cast<double>(moves.second[k]);
    const double value = -(gradient[k] + up[k]);
    if (value > (best.at < 0 ? -infinity : best.value)) best = {value, k};
  }
  best.value = -best.value;
  return best;
}

template <typename T>
ScoredVariable partner_of(const IncreasedVariable<T>& growing, const double* diagonal, const double* down,
                          const double* gradient, Index size, double floor, double& largest) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto slope = hn::Set(d, growing.slope);
  const auto own = hn::Set(d, growing.diagonal);
  const auto least = hn::Set(d, floor);
  const auto zero = hn::Zero(d);
  const auto minus_two = hn::Set(d, -2.0);
  V top = hn::Set(d, -infinity);
  LaneArgmax lead = start(d, 0.0);
  V position = hn::Iota(d, 0.0);
  const auto stride = hn::Set(d, static_cast<double>(lanes));
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    const V fall = hn::Add(hn::LoadU(d, gradient + k), hn::LoadU(d, down + k));
    top = hn::Max(top, fall);
    const V difference = hn::Max(hn::Sub(fall, slope), zero);
    const V eta = hn::MulAdd(minus_two, load(d, growing.column + k), hn::Add(own, hn::LoadU(d, diagonal + k)));
    lead.offer(hn::Div(hn::Mul(difference, difference), hn::Max(eta, least)), position);
    position = hn::Add(position, stride);
  }
  ScoredVariable best = best_of(d, lead);
  largest = largest_lane(d, top);
  for (; k < size; ++k) {
    const double fall = gradient[k] + down[k];
    largest = std::max(largest, fall);
    const double difference = std::max(fall - growing.slope, 0.0);
    const double eta = growing.diagonal + diagonal[k] - 2 * static_cast<double>(growing.column[k]);
    const double value = difference * difference / std::max(eta, floor);
    if (value > (best.at < 0 ? 0 : best.value)) best = {value, k};
  }
  return best;
}

template <typename T>
ScoredVariable advance_single_by(const Moves<T>& moves, const double* up, const double* down, const double* inverse,
                                 double* gradient, Index size, double& largest) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto by = hn::Set(d, moves.by_first);
  V top = hn::Zero(d);
  LaneArgmax lead = start(d, 0.0);
  V position = hn::Iota(d, 0.0);
  const auto stride = hn::Set(d, static_cast<double>(lanes));
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    const V g = hn::MulAdd(by, load(d, moves.first + k), hn::LoadU(d, gradient + k));
    hn::StoreU(g, d, gradient + k);
    const V rise = hn::Neg(hn::Add(g, hn::LoadU(d, up + k)));
    const V slope = hn::Max(hn::Max(rise, hn::Add(g, hn::LoadU(d, down + k))), hn::Zero(d));
    top = hn::Max(top, slope);
    lead.offer(hn::Mul(hn::Mul(slope, slope), hn::LoadU(d, inverse + k)), position);
    position = hn::Add(position, stride);
  }
  ScoredVariable best = best_of(d, lead);
  largest = largest_lane(d, top);
  for (; k < size; ++k) {
    gradient[k] += moves.by_first * static_cast<double>(moves.first[k]);
    const double slope = std::max({-(gradient[k] + up[k]), gradient[k] + down[k], 0.0});
    largest = std::max(largest, slope);
    const double value = slope * slope * inverse[k];
    if (value > (best.at < 0 ? 0 : best.value)) best = {value, k};
  }
  return best;
}

ScoredVariable advance_f32(const Moves<float>& moves, const double* up, double* gradient, Index size) {
  return advance_by(moves, up, gradient, size);
}
ScoredVariable advance_f64(const Moves<double>& moves, const double* up, double* gradient, Index size) {
  return advance_by(moves, up, gradient, size);
}
ScoredVariable partner_f32(const IncreasedVariable<float>& growing, const double* diagonal, const double* down,
                           const double* gradient, Index size, double floor, double& largest) {
  return partner_of(growing, diagonal, down, gradient, size, floor, largest);
}
ScoredVariable partner_f64(const IncreasedVariable<double>& growing, const double* diagonal, const double* down,
                           const double* gradient, Index size, double floor, double& largest) {
  return partner_of(growing, diagonal, down, gradient, size, floor, largest);
}
ScoredVariable single_f32(const Moves<float>& moves, const double* up, const double* down, const double* inverse,
                          double* gradient, Index size, double& largest) {
  return advance_single_by(moves, up, down, inverse, gradient, size, largest);
}
ScoredVariable single_f64(const Moves<double>& moves, const double* up, const double* down, const double* inverse,
                          double* gradient, Index size, double& largest) {
  return advance_single_by(moves, up, down, inverse, gradient, size, largest);
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(advance_f32);
HWY_EXPORT(advance_f64);
HWY_EXPORT(partner_f32);
HWY_EXPORT(partner_f64);
HWY_EXPORT(single_f32);
HWY_EXPORT(single_f64);

ScoredVariable advance(const Moves<float>& moves, const double* up, double* gradient, Index size) {
  return HWY_DYNAMIC_DISPATCH(advance_f32)(moves, up, gradient, size);
}
ScoredVariable advance(const Moves<double>& moves, const double* up, double* gradient, Index size) {
  return HWY_DYNAMIC_DISPATCH(advance_f64)(moves, up, gradient, size);
}
ScoredVariable partner(const IncreasedVariable<float>& growing, const double* diagonal, const double* down,
                       const double* gradient, Index size, double floor, double& largest) {
  return HWY_DYNAMIC_DISPATCH(partner_f32)(growing, diagonal, down, gradient, size, floor, largest);
}
ScoredVariable partner(const IncreasedVariable<double>& growing, const double* diagonal, const double* down,
                       const double* gradient, Index size, double floor, double& largest) {
  return HWY_DYNAMIC_DISPATCH(partner_f64)(growing, diagonal, down, gradient, size, floor, largest);
}
ScoredVariable advance_single(const Moves<float>& moves, const double* up, const double* down, const double* inverse,
                              double* gradient, Index size, double& largest) {
  return HWY_DYNAMIC_DISPATCH(single_f32)(moves, up, down, inverse, gradient, size, largest);
}
ScoredVariable advance_single(const Moves<double>& moves, const double* up, const double* down, const double* inverse,
                              double* gradient, Index size, double& largest) {
  return HWY_DYNAMIC_DISPATCH(single_f64)(moves, up, down, inverse, gradient, size, largest);
}

}  // namespace widelimit::host
#endif
