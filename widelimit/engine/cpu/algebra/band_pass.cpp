#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/algebra/band_pass.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/cpu/algebra/band_pass.hpp"

#include <algorithm>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Register tile: this many rows of three vectors.
constexpr Index rows_at_once = 4;

/// Computes three vectors of `Rows` rows of z from column j on: Σ_k q_k D_k + Σ_k before_k G_k.
template <Index Rows, class D>
HWY_INLINE void tile_of_pass(D tag, MatrixView<const double> q, MatrixView<const double> d,
                             MatrixView<const double> before, MatrixView<const double> g, MatrixView<double> z, Index i,
                             Index j, double* sums) {
  const auto lanes = static_cast<Index>(hn::Lanes(tag));
  hn::Vec<D> sum[Rows][3];
  for (Index r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = sum[r][2] = hn::Zero(tag);
  // Adds row k of `right` from its vector `first` on.
  const auto add = [&](MatrixView<const double> left, MatrixView<const double> right, Index begin, Index end,
                       auto first) HWY_ATTR {
    for (Index k = begin; k < std::min(end, left.cols); ++k) {
      const double* const from = right.row(k) + j;
      hn::Vec<D> row[3];
      for (Index v = first; v < 3; ++v) row[v] = hn::LoadU(tag, from + v * lanes);
      for (Index r = 0; r < Rows; ++r) {
        const auto factor = hn::Set(tag, left(i + r, k));
        for (Index v = first; v < 3; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
      }
    }
  };
  // D is 0 below its diagonal.
  add(q, d, 0, j + lanes, std::integral_constant<Index, 0>());
  add(q, d, j + lanes, j + 2 * lanes, std::integral_constant<Index, 1>());
  add(q, d, j + 2 * lanes, j + 3 * lanes, std::integral_constant<Index, 2>());
  add(before, g, 0, before.cols, std::integral_constant<Index, 0>());
  for (Index r = 0; r < Rows; ++r) {
    auto square = hn::Zero(tag);
    for (Index v = 0; v < 3; ++v) {
      hn::StoreU(sum[r][v], tag, z.row(i + r) + j + v * lanes);
      square = hn::MulAdd(sum[r][v], sum[r][v], square);
    }
    sums[i + r] += hn::GetLane(hn::SumOfLanes(tag, square));
  }
}

void pass(MatrixView<const double> q, MatrixView<const double> d, MatrixView<const double> before,
          MatrixView<const double> g, MatrixView<double> z, double* sums) {
  const hn::CappedTag<double, band_pass_columns / 3> tag;
  const auto step = 3 * static_cast<Index>(hn::Lanes(tag));
  // The columns of D and G of a tile stay in the first-level cache for all rows.
  for (Index j = 0; j < z.cols; j += step) {
    Index i = 0;
    for (; i + rows_at_once <= z.rows; i += rows_at_once) {
      tile_of_pass<rows_at_once>(tag, q, d, before, g, z, i, j, sums);
    }
    for (; i < z.rows; ++i) tile_of_pass<1>(tag, q, d, before, g, z, i, j, sums);
  }
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(pass);

void band_pass(MatrixView<const double> q, MatrixView<const double> d, MatrixView<const double> before,
               MatrixView<const double> g, MatrixView<double> z, double* sums) {
  HWY_DYNAMIC_DISPATCH(pass)(q, d, before, g, z, sums);
}

}  // namespace widelimit::cpu
#endif
