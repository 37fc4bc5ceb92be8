#include "widelimit/machine/factor/gram_factor.hpp"

#include "widelimit/engine/cpu/algebra/pivoted_cholesky.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

double largest_diagonal(const DenseGram& k) {
  double largest = 0;
  for (Index i = 0; i < k.count(); ++i) largest = std::max(largest, k.row(i)[i]);
  return largest;
}

std::vector<double> permuted(const double* values, const std::vector<Index>& order, Index columns) {
  std::vector<double> result;
  result.reserve(order.size() * static_cast<std::size_t>(columns));
  for (const Index i : order) result.insert(result.end(), values + i * columns, values + (i + 1) * columns);
  return result;
}

}  // namespace

GramFactor::GramFactor(const DenseGram& k, int threads, Progress* progress)
    : rows_(k.count(), k.count(), Content::unset), order_(static_cast<std::size_t>(k.count())) {
  std::iota(order_.begin(), order_.end(), Index{0});
  const double least = 4 * std::sqrt(static_cast<double>(k.count())) * k.epsilon() * largest_diagonal(k);
  if (!factorise_plainly(k, least, progress)) {
    complete_ = is_semidefinite(k.source(), threads, progress);
    for (Index i = 0; i < k.count(); ++i) std::copy_n(k.row(i), i + 1, rows_.view().row(i));
    rank_ = pivoted_cholesky(rows_.view(), least, order_, progress);
  }
  for (Index i = 0; i < rank_; ++i) std::fill(rows_.view().row(i) + i + 1, rows_.view().row(i) + k.count(), 0.0);
}

/// A factor of K itself proves as much as one of K + cD (semidefinite.hpp).
bool GramFactor::factorise_plainly(const DenseGram& k, double least, Progress* progress) {
  for (Index i = 0; i < k.count(); ++i) std::copy(k.row(i) + i, k.row(i) + k.count(), rows_.view().row(i) + i);
  if (cpu::tiled_cholesky<double>(rows_.view(), progress) != 0) return false;
  rank_ = k.count();
  for (Index i = 0; i < rank_; ++i) {
    if (!(rows_(i, i) * rows_(i, i) > least)) return false;
    for (Index j = 0; j < i; ++j) rows_(i, j) = rows_(j, i);
  }
  return true;
}

/// The first rows of L are a triangle, half of which need not be read; where K has full rank they are all of L.
void GramFactor::values(const double* beta, double* h, Index columns) const {
  std::vector<double> product(order_.size() * static_cast<std::size_t>(columns));
  std::copy_n(beta, rank_ * columns, product.begin());
  const MatrixView<double> first{product.data(), rank_, columns, columns};
  const MatrixView<double> rest{product.data() + rank_ * columns, count() - rank_, columns, columns};
  cpu::multiply_lower(triangle(), Transpose::no, first);
  if (rank_ > 0) {
    cpu::tiled_product<double>(1, Transpose::no, below(), Transpose::no, {beta, rank_, columns, columns}, 0, rest);
  }
  const double* from = product.data();
  for (const Index i : order_) {
    std::copy_n(from, columns, h + i * columns);
    from += columns;
  }
}

void GramFactor::pull(const double* r, double* c, Index columns) const {
  if (rank_ == 0) return;
  const std::vector<double> sorted = permuted(r, order_, columns);
  const MatrixView<double> out{c, rank_, columns, columns};
  std::copy_n(sorted.begin(), rank_ * columns, c);
  cpu::multiply_lower(triangle(), Transpose::yes, out);
  const MatrixView<const double> rest{sorted.data() + rank_ * columns, count() - rank_, columns, columns};
  if (rest.rows > 0) cpu::tiled_product<double>(1, Transpose::yes, below(), Transpose::no, rest, 1, out);
}

void GramFactor::coefficients(const double* beta, double* alpha, Index columns) const {
  std::fill_n(alpha, count() * columns, 0.0);
  if (rank_ == 0) return;
  std::vector<double> solved(beta, beta + rank_ * columns);
  cpu::solve_lower(triangle(), Transpose::yes, {solved.data(), rank_, columns, columns});
  for (Index i = 0; i < rank_; ++i) {
    std::copy_n(solved.data() + i * columns, columns, alpha + order_[static_cast<std::size_t>(i)] * columns);
  }
}

}  // namespace widelimit
