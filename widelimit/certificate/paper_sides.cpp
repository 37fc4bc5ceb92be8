#include "widelimit/certificate/paper_sides.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// The ends of a/N, clamped to [−1, 1]. N = 0 says nothing of the angle.
double angle_low(const RangeRow& row, std::int32_t i) {
  const double a = row.low[i];
  if (a < 0 && row.norm.low == 0) return -1;
  return ratio_below(a, a < 0 ? row.norm.low : row.norm.high);
}
double angle_high(const RangeRow& row, std::int32_t i) {
  const double a = row.high[i];
  if (a > 0 && row.norm.low == 0) return 1;
  return ratio_above(a, a > 0 ? row.norm.low : row.norm.high);
}

}  // namespace

void PaperSides::low(const RangeRow& row, std::span<const std::int32_t> which, SideScratch& scratch, double* to) const {
  constexpr double turn = 0x1p-26;
  const auto count = std::ssize(which);
  for (Index k = 0; k < count; ++k) {
    const std::int32_t i = which[at(k)];
    const double left = angle_low(row, i), right = angle_high(row, i);
    const bool falls = right < kernel_.lowest() - turn;
    scratch.u[at(k)] = falls ? right : left;
    scratch.turned[at(k)] = !falls && left <= kernel_.lowest() + turn;
  }
  kernel_.evaluate(count, {.u = scratch.u.data(), .value = scratch.value.data()});
  for (Index k = 0; k < count; ++k) {
    const double least = scratch.turned[at(k)] != 0 ? kernel_.lowest_value() : scratch.value[at(k)];
    to[k] = least * (least > 0 ? row.norm.low : row.norm.high);
  }
}

void PaperSides::high(const RangeRow& row, std::span<const std::int32_t> which, SideScratch& scratch,
                      double* to) const {
  const auto count = std::ssize(which);
  for (Index k = 0; k < count; ++k) scratch.u[at(k)] = angle_high(row, which[at(k)]);
  kernel_.evaluate(count, {.u = scratch.u.data(), .value = scratch.value.data()});
  for (Index k = 0; k < count; ++k) scratch.u[at(k)] = angle_low(row, which[at(k)]);
  // κ(−u) ≤ κ(u): the left end counts only where it is the farther from 0.
  const bool left = std::any_of(which.begin(), which.end(), [&](std::int32_t i) { return -row.low[i] > row.high[i]; });
  if (left) kernel_.evaluate(count, {.u = scratch.u.data(), .value = scratch.other.data()});
  for (Index k = 0; k < count; ++k) {
    const double most = left ? std::max(scratch.value[at(k)], scratch.other[at(k)]) : scratch.value[at(k)];
    to[k] = most * (most > 0 ? row.norm.high : row.norm.low);
  }
}

}  // namespace widelimit
