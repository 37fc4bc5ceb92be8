#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/pair_products.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/host/pair_products.hpp"

#include <algorithm>
#include <array>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, PairPanel::right_group / 2>;
using V = hn::Vec<D>;

HWY_INLINE void add_to(D d, V first, V second, double* place) {
  double* next = place + hn::Lanes(d);
  hn::StoreU(hn::Add(hn::LoadU(d, place), first), d, place);
  hn::StoreU(hn::Add(hn::LoadU(d, next), second), d, next);
}

/// Adds the sums over `depth` coordinates of three rows with two vectors of columns, all in registers. The pointers
/// advance by steps that are no multiples of each other, so that compilers do not use indexed addressing for both,
/// which would split each load into two operations.
HWY_INLINE void add_both(const double* left, const double* right, Index depth, MatrixView<double> products,
                         MatrixView<double> largest) {
  constexpr Index high = PairPanel::left_group;
  constexpr Index wide = PairPanel::right_group;
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V p00 = hn::Zero(d), p01 = p00, p10 = p00, p11 = p00, p20 = p00, p21 = p00;
  V m00 = p00, m01 = p00, m10 = p00, m11 = p00, m20 = p00, m21 = p00;
  for (Index k = 0; k < depth; ++k) {
    const V u0 = hn::LoadU(d, right + wide);
    const V u1 = hn::LoadU(d, right + wide + lanes);
    const V x0 = hn::Set(d, left[high]);
    const V x1 = hn::Set(d, left[high + 1]);
    const V x2 = hn::Set(d, left[high + 2]);
    m00 = hn::Add(m00, hn::Max(x0, u0));
    m01 = hn::Add(m01, hn::Max(x0, u1));
    m10 = hn::Add(m10, hn::Max(x1, u0));
    m11 = hn::Add(m11, hn::Max(x1, u1));
    m20 = hn::Add(m20, hn::Max(x2, u0));
    m21 = hn::Add(m21, hn::Max(x2, u1));
    const V v0 = hn::LoadU(d, right);
    const V v1 = hn::LoadU(d, right + lanes);
    const V y0 = hn::Set(d, left[0]);
    const V y1 = hn::Set(d, left[1]);
    const V y2 = hn::Set(d, left[2]);
    p00 = hn::MulAdd(y0, v0, p00);
    p01 = hn::MulAdd(y0, v1, p01);
    p10 = hn::MulAdd(y1, v0, p10);
    p11 = hn::MulAdd(y1, v1, p11);
    p20 = hn::MulAdd(y2, v0, p20);
    p21 = hn::MulAdd(y2, v1, p21);
    left += 2 * high;
    right += 2 * wide;
  }
  add_to(d, p00, p01, products.row(0));
  add_to(d, p10, p11, products.row(1));
  add_to(d, p20, p21, products.row(2));
  add_to(d, m00, m01, largest.row(0));
  add_to(d, m10, m11, largest.row(1));
  add_to(d, m20, m21, largest.row(2));
}

/// Products only, bit-identical to add_both.
HWY_INLINE void add_products(const double* left, Index left_step, const double* right, Index right_step, Index depth,
                             MatrixView<double> products) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V p00 = hn::Zero(d), p01 = p00, p10 = p00, p11 = p00, p20 = p00, p21 = p00;
  for (Index k = 0; k < depth; ++k) {
    const V v0 = hn::LoadU(d, right);
    const V v1 = hn::LoadU(d, right + lanes);
    const V y0 = hn::Set(d, left[0]);
    const V y1 = hn::Set(d, left[1]);
    const V y2 = hn::Set(d, left[2]);
    p00 = hn::MulAdd(y0, v0, p00);
    p01 = hn::MulAdd(y0, v1, p01);
    p10 = hn::MulAdd(y1, v0, p10);
    p11 = hn::MulAdd(y1, v1, p11);
    p20 = hn::MulAdd(y2, v0, p20);
    p21 = hn::MulAdd(y2, v1, p21);
    left += left_step;
    right += right_step;
  }
  add_to(d, p00, p01, products.row(0));
  add_to(d, p10, p11, products.row(1));
  add_to(d, p20, p21, products.row(2));
}

/// Visits the register tiles of a left and a right group, by lanes of the right group.
template <typename Tile>
HWY_INLINE void each_tile(const Tile& tile) {
  const auto step = static_cast<Index>(2 * hn::Lanes(D()));
  for (Index lane = 0; lane < PairPanel::right_group; lane += step) tile(lane);
}

/// Adds the entries inside the block.
void add_part(MatrixView<const double> from, MatrixView<double> to) {
  for (Index i = 0; i < to.rows; ++i) {
    for (Index j = 0; j < to.cols; ++j) to(i, j) += from(i, j);
  }
}

/// group(g, h, k, depth, products, largest) adds part k … k + depth − 1 of the sums of left group g and right group h;
/// incomplete groups use a scratch buffer.
template <typename Group>
void each_group(const PairPanel& left, const PairPanel& right, MatrixView<double> products, MatrixView<double> largest,
                const Group& group) {
  constexpr Index high = PairPanel::left_group;
  constexpr Index wide = PairPanel::right_group;
  const bool both = largest.data != nullptr;
  for (Index i = 0; i < products.rows; ++i) {
    std::fill_n(products.row(i), products.cols, 0.0);
    if (both) std::fill_n(largest.row(i), largest.cols, 0.0);
  }
  const Index depth = PairPanel::depth(left.cols());
  for (Index k = 0; k < left.cols(); k += depth) {
    const Index size = std::min(depth, left.cols() - k);
    for (Index h = 0; h < right.groups(); ++h) {
      const Index cols = std::min(wide, right.rows() - h * wide);
      for (Index g = 0; g < left.groups(); ++g) {
        const Index rows = std::min(high, left.rows() - g * high);
        const MatrixView<double> p = products.block(g * high, h * wide, rows, cols);
        const MatrixView<double> m = both ? largest.block(g * high, h * wide, rows, cols) : MatrixView<double>();
        if (rows == high && cols == wide) {
          group(g, h, k, size, p, m);
          continue;
        }
        double place[2][high][wide] = {};
        const MatrixView<double> p_place{place[0][0], high, wide, wide};
        const MatrixView<double> m_place{place[1][0], high, wide, wide};
        group(g, h, k, size, p_place, m_place);
        add_part(p_place, p);
        add_part(m_place, m);
      }
    }
  }
}

void products_alone(const PairPanel& left, const PairPanel& right, MatrixView<double> products) {
  each_group(left, right, products, {},
             [&](Index g, Index h, Index k, Index depth, MatrixView<double> p, MatrixView<double>) {
               each_tile([&](Index lane) {
                 add_products(left.group(g, k), left.step(), right.group(h, k) + lane, right.step(), depth,
                              p.block(0, lane, PairPanel::left_group, 0));
               });
             });
}

void products_and_distances(const PairPanel& left, const PairPanel& right, MatrixView<double> products,
                            MatrixView<double> distances) {
  each_group(left, right, products, distances,
             [&](Index g, Index h, Index k, Index depth, MatrixView<double> p, MatrixView<double> m) {
               each_tile([&](Index lane) {
                 add_both(left.group(g, k), right.group(h, k) + lane, depth, p.block(0, lane, PairPanel::left_group, 0),
                          m.block(0, lane, PairPanel::left_group, 0));
               });
             });
  for (Index i = 0; i < distances.rows; ++i) {
    double* row = distances.row(i);
    const double own = left.sums()[i];
    for (Index j = 0; j < distances.cols; ++j) row[j] = std::max(0.0, 2 * row[j] - (own + right.sums()[j]));
  }
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(products_alone);
HWY_EXPORT(products_and_distances);

namespace {

/// Packs one group, given pointers to its rows. `sums` accumulates each row by partial sums if distances are needed,
/// else null.
template <Index width>
void pack_group(const std::array<const double*, usize(width)>& rows, const std::array<double, usize(width)>& means,
                Index cols, double* to, double* sums) {
  const Index depth = PairPanel::depth(cols);
  for (Index begin = 0; begin < cols; begin += depth) {
    std::array<double, usize(width)> part{};
    for (Index k = begin; k < std::min(cols, begin + depth); ++k) {
      std::array<double, usize(width)> column{};
      for (std::size_t r = 0; r < usize(width); ++r) column[r] = rows[r][k];
      for (std::size_t r = 0; r < usize(width); ++r) to[r] = column[r] - means[r];
      to += width;
      if (sums == nullptr) continue;
      for (std::size_t r = 0; r < usize(width); ++r) part[r] += column[r];
      to = std::copy(column.begin(), column.end(), to);
    }
    for (std::size_t r = 0; sums != nullptr && r < usize(width); ++r) sums[r] += part[r];
  }
}

template <Index width>
void pack_rows(MatrixView<const double> rows, const double* means, MatrixView<double> groups, double* sums) {
  const std::vector<double> absent(usize(rows.cols), 0.0);
  for (Index g = 0; g < groups.rows; ++g) {
    std::array<const double*, usize(width)> from{};
    std::array<double, usize(width)> mean{};
    for (Index r = 0; r < width; ++r) {
      const Index i = g * width + r;
      from[usize(r)] = i < rows.rows ? rows.row(i) : absent.data();
      mean[usize(r)] = i < rows.rows ? means[i] : 0;
    }
    pack_group<width>(from, mean, rows.cols, groups.row(g), sums != nullptr ? sums + g * width : nullptr);
  }
}

}  // namespace

Index PairPanel::depth(Index cols) {
  const Index parts = std::max<Index>(1, (cols + most_depth - 1) / most_depth);
  return std::max<Index>(1, (cols + parts - 1) / parts);
}

PairPanel::PairPanel(MatrixView<const double> rows, const double* means, Side side, bool distances)
    : rows_(rows.rows), cols_(rows.cols) {
  const Index width = side == Side::left ? left_group : right_group;
  const Index count = (rows_ + width - 1) / width;
  step_ = distances ? 2 * width : width;
  numbers_ = Matrix<double>(count, step_ * cols_, Content::unset);
  if (distances) sums_.assign(usize(count * width), 0.0);
  const auto pack = side == Side::left ? &pack_rows<left_group> : &pack_rows<right_group>;
  pack(rows, means, numbers_.view(), distances ? sums_.data() : nullptr);
}

void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products) {
  HWY_DYNAMIC_DISPATCH(products_alone)(left, right, products);
}

void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products,
                   MatrixView<double> distances) {
  HWY_DYNAMIC_DISPATCH(products_and_distances)(left, right, products, distances);
}

}  // namespace widelimit::host
#endif
