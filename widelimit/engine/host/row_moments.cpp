#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/row_moments.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/host/row_moments.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, RowMoments::lanes>;
using V = hn::Vec<D>;

/// Rows i, i + 1 with rows j … j + 3; indices beyond the last row are clamped, and their sums are never read.
void add_tile(MatrixView<const double> part, Index i, Index j, double* sums) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto row = [&](Index r) { return part.row(std::min(r, part.rows - 1)); };
  const double *a0 = row(i), *a1 = row(i + 1), *b0 = row(j), *b1 = row(j + 1), *b2 = row(j + 2), *b3 = row(j + 3);
  const auto sum = [&](Index s) { return hn::LoadU(d, sums + s * RowMoments::lanes); };
  V s00 = sum(0), s01 = sum(1), s02 = sum(2), s03 = sum(3), s10 = sum(4), s11 = sum(5), s12 = sum(6), s13 = sum(7);
  const auto step = [&](const auto& load) {
    const V x0 = load(a0);
    const V x1 = load(a1);
    const V y0 = load(b0);
    const V y1 = load(b1);
    const V y2 = load(b2);
    const V y3 = load(b3);
    s00 = hn::MulAdd(x0, y0, s00);
    s01 = hn::MulAdd(x0, y1, s01);
    s02 = hn::MulAdd(x0, y2, s02);
    s03 = hn::MulAdd(x0, y3, s03);
    s10 = hn::MulAdd(x1, y0, s10);
    s11 = hn::MulAdd(x1, y1, s11);
    s12 = hn::MulAdd(x1, y2, s12);
    s13 = hn::MulAdd(x1, y3, s13);
  };
  Index k = 0;
  for (; k + lanes <= part.cols; k += lanes) step([&](const double* from) { return hn::LoadU(d, from + k); });
  if (k < part.cols) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(part.cols - k));
    step([&](const double* from) { return hn::MaskedLoad(inside, d, from + k); });
  }
  const auto keep = [&](V value, Index s) { hn::StoreU(value, d, sums + s * RowMoments::lanes); };
  keep(s00, 0);
  keep(s01, 1);
  keep(s02, 2);
  keep(s03, 3);
  keep(s10, 4);
  keep(s11, 5);
  keep(s12, 6);
  keep(s13, 7);
}

void add_moments(MatrixView<const double> part, double* sums) {
  RowMoments::each_tile(part.rows, [&](Index i, Index j) {
    add_tile(part, i, j, sums);
    sums += RowMoments::high * RowMoments::wide * RowMoments::lanes;
  });
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(add_moments);

RowMoments::RowMoments(Index rows) : rows_(rows) {
  std::size_t tiles = 0;
  each_tile(rows, [&](Index, Index) { ++tiles; });
  sums_.assign(tiles * high * wide * lanes, 0.0);
}

void RowMoments::add(MatrixView<const double> part) { HWY_DYNAMIC_DISPATCH(add_moments)(part, sums_.data()); }

std::vector<double> RowMoments::values() const {
  std::vector<double> result(usize(rows_ * rows_));
  const double* sums = sums_.data();
  each_tile(rows_, [&](Index i, Index j) {
    for (Index p = i; p < i + high; ++p) {
      for (Index q = j; q < j + wide; ++q, sums += lanes) {
        if (p >= rows_ || q >= rows_ || q < p) continue;
        double sum = 0;
        for (Index lane = 0; lane < lanes; ++lane) sum += sums[lane];
        result[usize(p * rows_ + q)] = sum;
        result[usize(q * rows_ + p)] = sum;
      }
    }
  });
  return result;
}

}  // namespace widelimit::host
#endif
