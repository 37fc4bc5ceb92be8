#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/absolute_distances.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/host/absolute_distances.hpp"

#include <algorithm>
#include <array>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// Pairs whose sums stay in registers: a number that is loaded serves as many of them as there are rows on the other
/// side.
constexpr Index high = 2;
constexpr Index wide = 4;

/// Sums of `high` by `wide` pairs from column `begin` to `end`; columns beyond whole vectors are added one by one.
void add_pairs(const std::array<const double*, high>& a, const std::array<const double*, wide>& b, Index begin,
               Index end, std::array<std::array<double, wide>, high>& sums) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V s00 = hn::Zero(d), s01 = s00, s02 = s00, s03 = s00, s10 = s00, s11 = s00, s12 = s00, s13 = s00;
  // The same number by a fused operation, which some processors start beside a subtraction, but an addition not.
  const V one = hn::Set(d, 1.0);
  const auto add = [&](V sum, V x, V y) { return hn::MulAdd(hn::Abs(hn::Sub(x, y)), one, sum); };
  Index k = begin;
  for (; k + lanes <= end; k += lanes) {
    const V a0 = hn::LoadU(d, a[0] + k);
    const V a1 = hn::LoadU(d, a[1] + k);
    const V b0 = hn::LoadU(d, b[0] + k);
    const V b1 = hn::LoadU(d, b[1] + k);
    const V b2 = hn::LoadU(d, b[2] + k);
    const V b3 = hn::LoadU(d, b[3] + k);
    s00 = add(s00, a0, b0);
    s01 = add(s01, a0, b1);
    s02 = add(s02, a0, b2);
    s03 = add(s03, a0, b3);
    s10 = add(s10, a1, b0);
    s11 = add(s11, a1, b1);
    s12 = add(s12, a1, b2);
    s13 = add(s13, a1, b3);
  }
  const auto total = [&](V sum) { return hn::GetLane(hn::SumOfLanes(d, sum)); };
  const std::array<std::array<double, wide>, high> whole{
      {{total(s00), total(s01), total(s02), total(s03)}, {total(s10), total(s11), total(s12), total(s13)}}};
  for (std::size_t i = 0; i < high; ++i) {
    for (std::size_t j = 0; j < wide; ++j) {
      double rest = 0;
      for (Index c = k; c < end; ++c) rest += std::abs(a[i][c] - b[j][c]);
      sums[i][j] += whole[i][j] + rest;
    }
  }
}

/// In strips of columns that stay in the first-level cache while all pairs of a group of rows pass.
void distances(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> out) {
  constexpr Index strip = 512;
  for (Index i = 0; i < a.rows; ++i) std::fill_n(out.row(i), b.rows, 0.0);
  for (Index begin = 0; begin < a.cols; begin += strip) {
    const Index end = std::min(a.cols, begin + strip);
    for (Index j = 0; j < b.rows; j += wide) {
      for (Index i = 0; i < a.rows; i += high) {
        // Beyond the last row the last is taken again, and its sums are not kept.
        std::array<const double*, high> left{};
        std::array<const double*, wide> right{};
        for (Index r = 0; r < high; ++r) left[static_cast<std::size_t>(r)] = a.row(std::min(i + r, a.rows - 1));
        for (Index c = 0; c < wide; ++c) right[static_cast<std::size_t>(c)] = b.row(std::min(j + c, b.rows - 1));
        std::array<std::array<double, wide>, high> sums{};
        add_pairs(left, right, begin, end, sums);
        for (Index r = 0; r < std::min(high, a.rows - i); ++r) {
          for (Index c = 0; c < std::min(wide, b.rows - j); ++c) {
            out(i + r, j + c) += sums[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
          }
        }
      }
    }
  }
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(distances);

void absolute_distances(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> out) {
  HWY_DYNAMIC_DISPATCH(distances)(a, b, out);
}

}  // namespace widelimit::host
#endif
