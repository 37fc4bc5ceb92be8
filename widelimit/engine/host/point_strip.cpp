#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/point_strip.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/host/point_strip.hpp"

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
/// Eight accumulators cover a strip with the widest vectors and hide the latency of additions.
constexpr Index sums_at_once = 8;
using D = hn::CappedTag<double, strip_points / sums_at_once>;
using V = hn::Vec<D>;

void weigh_strip_f64(std::span<const Weighted> entries, const double* strip, double* sums) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index first = 0; first < strip_points; first += sums_at_once * lanes) {
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    for (const Weighted& entry : entries) {
      const double* row = strip + entry.sample * strip_points + first;
      const V by = hn::Set(d, entry.by);
      s0 = hn::MulAdd(by, hn::LoadU(d, row), s0);
      s1 = hn::MulAdd(by, hn::LoadU(d, row + lanes), s1);
      s2 = hn::MulAdd(by, hn::LoadU(d, row + 2 * lanes), s2);
      s3 = hn::MulAdd(by, hn::LoadU(d, row + 3 * lanes), s3);
      s4 = hn::MulAdd(by, hn::LoadU(d, row + 4 * lanes), s4);
      s5 = hn::MulAdd(by, hn::LoadU(d, row + 5 * lanes), s5);
      s6 = hn::MulAdd(by, hn::LoadU(d, row + 6 * lanes), s6);
      s7 = hn::MulAdd(by, hn::LoadU(d, row + 7 * lanes), s7);
    }
    double* to = sums + first;
    hn::StoreU(s0, d, to);
    hn::StoreU(s1, d, to + lanes);
    hn::StoreU(s2, d, to + 2 * lanes);
    hn::StoreU(s3, d, to + 3 * lanes);
    hn::StoreU(s4, d, to + 4 * lanes);
    hn::StoreU(s5, d, to + 5 * lanes);
    hn::StoreU(s6, d, to + 6 * lanes);
    hn::StoreU(s7, d, to + 7 * lanes);
  }
}

void count_pair_f64(const double* decisions, double bias, const Tally& first, const Tally& second) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const V one = hn::Set(d, 1.0);
  const V added = hn::Set(d, bias);
  for (Index i = 0; i < strip_points; i += lanes) {
    const V g = hn::Add(hn::LoadU(d, decisions + i), added);
    const V won = hn::IfThenElseZero(hn::Gt(g, hn::Zero(d)), one);
    hn::StoreU(hn::Add(hn::LoadU(d, first.votes + i), won), d, first.votes + i);
    hn::StoreU(hn::Add(hn::LoadU(d, second.votes + i), hn::Sub(one, won)), d, second.votes + i);
    hn::StoreU(hn::Add(hn::LoadU(d, first.sums + i), g), d, first.sums + i);
    hn::StoreU(hn::Sub(hn::LoadU(d, second.sums + i), g), d, second.sums + i);
  }
}

void find_winners_f64(const double* counts, Index classes, bool by_sums, Index* winners) {
  const D d;
  const hn::RebindToSigned<D> places;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < strip_points; i += lanes) {
    V best = hn::Zero(d);
    V votes = hn::LoadU(d, counts + i);
    V sum = hn::LoadU(d, counts + strip_points + i);
    for (Index c = 1; c < classes; ++c) {
      const double* row = counts + 2 * c * strip_points + i;
      const V class_votes = hn::LoadU(d, row);
      const V class_sum = hn::LoadU(d, row + strip_points);
      const auto more = hn::Gt(class_votes, votes);
      const auto larger = hn::And(hn::Eq(class_votes, votes), hn::Gt(class_sum, sum));
      const auto wins = by_sums ? hn::Or(more, larger) : more;
      best = hn::IfThenElse(wins, hn::Set(d, static_cast<double>(c)), best);
      votes = hn::IfThenElse(wins, class_votes, votes);
      sum = hn::IfThenElse(wins, class_sum, sum);
    }
    hn::StoreU(hn::ConvertTo(places, best), places, winners + i);
  }
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(weigh_strip_f64);
HWY_EXPORT(count_pair_f64);
HWY_EXPORT(find_winners_f64);

void weigh_strip(std::span<const Weighted> entries, const double* strip, double* sums) {
  HWY_DYNAMIC_DISPATCH(weigh_strip_f64)(entries, strip, sums);
}
void count_pair(const double* decisions, double bias, const Tally& first, const Tally& second) {
  HWY_DYNAMIC_DISPATCH(count_pair_f64)(decisions, bias, first, second);
}
void find_winners(const double* counts, Index classes, bool by_sums, Index* winners) {
  HWY_DYNAMIC_DISPATCH(find_winners_f64)(counts, classes, by_sums, winners);
}

}  // namespace widelimit::host
#endif
