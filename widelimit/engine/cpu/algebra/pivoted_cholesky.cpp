#include "widelimit/engine/cpu/algebra/pivoted_cholesky.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace widelimit::cpu {

namespace {

/// Number of columns whose rank-one updates are applied as one product.
constexpr Index pivot_block = 64;

/// Exchanges rows and columns j < k of a symmetric matrix stored in its lower triangle.
void exchange(MatrixView<double> a, Index j, Index k) {
  std::swap_ranges(a.row(j), a.row(j) + j, a.row(k));
  std::swap(a(j, j), a(k, k));
  for (Index i = j + 1; i < k; ++i) std::swap(a(i, j), a(k, i));
  for (Index i = k + 1; i < a.rows; ++i) std::swap(a(i, j), a(i, k));
}

/// Factors one block of columns from `begin`; returns the number of pivots found.
Index factor_block(MatrixView<double> a, Index begin, double least, std::vector<Index>& order) {
  const Index n = a.rows;
  const Index end = std::min(n, begin + pivot_block);
  std::vector<double> taken(usize(n));  // squares to subtract from the diagonal for this block
  for (Index j = begin; j < end; ++j) {
    Index pivot = j;
    for (Index i = j; i < n; ++i) {
      if (j > begin) taken[usize(i)] += a(i, j - 1) * a(i, j - 1);
      if (a(i, i) - taken[usize(i)] > a(pivot, pivot) - taken[usize(pivot)]) pivot = i;
    }
    const double left = a(pivot, pivot) - taken[usize(pivot)];
    if (!(left > least)) return j - begin;
    if (pivot != j) {
      exchange(a, j, pivot);
      std::swap(taken[usize(j)], taken[usize(pivot)]);
      std::swap(order[usize(j)], order[usize(pivot)]);
    }
    const double root = std::sqrt(left);
    a(j, j) = root;
    if (j + 1 == n) continue;
    if (j > begin) {
      cpu::gemv<double>(-1, Transpose::no, a.block(j + 1, begin, n - j - 1, j - begin), {&a(j, begin)}, 1,
                        {&a(j + 1, j), a.stride});
    }
    for (Index i = j + 1; i < n; ++i) a(i, j) /= root;
  }
  return end - begin;
}

}  // namespace

Index pivoted_cholesky(MatrixView<double> a, double least, std::vector<Index>& order, int threads, Progress* progress) {
  const Index n = a.rows;
  order.resize(usize(n));
  std::iota(order.begin(), order.end(), Index{0});
  ProgressTicker ticker(progress, n, "pivots");
  for (Index begin = 0; begin < n; begin += pivot_block) {
    ticker.at(begin);
    const Index found = factor_block(a, begin, least, order);
    if (found < std::min(pivot_block, n - begin)) return begin + found;
    const Index rest = n - begin - found;
    if (rest == 0) continue;
    tiled_row_product(-1, a.block(begin + found, begin, rest, found), a.block(begin + found, begin + found, rest, rest),
                      threads);
  }
  return n;
}

}  // namespace widelimit::cpu
