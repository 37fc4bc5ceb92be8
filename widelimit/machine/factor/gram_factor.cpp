#include "widelimit/machine/factor/gram_factor.hpp"

#include "widelimit/machine/factor/factor.hpp"
#include "widelimit/machine/factor/pivoted_cholesky.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"

#include <cblas.h>

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
  if (factor_upper(rows_.view(), progress) != 0) return false;
  rank_ = k.count();
  for (Index i = 0; i < rank_; ++i) {
    if (!(rows_(i, i) * rows_(i, i) > least)) return false;
    for (Index j = 0; j < i; ++j) rows_(i, j) = rows_(j, i);
  }
  return true;
}

/// The first rows of L are a triangle, half of which need not be read; where K has full rank they are all of L.
void GramFactor::values(const double* beta, double* h, Index columns) const {
  const int width = static_cast<int>(columns);
  const int rank = static_cast<int>(rank_);
  const int stride = static_cast<int>(rows_.cols());
  const Index left = count() - rank_;
  std::vector<double> product(order_.size() * static_cast<std::size_t>(columns));
  std::copy_n(beta, rank_ * columns, product.begin());
  if (rank_ > 0) {
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rank, width, 1.0, rows_.data(),
                stride, product.data(), width);
  }
  if (rank_ > 0 && left > 0) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(left), width, rank, 1.0,
                rows_.view().row(rank_), stride, beta, width, 0.0, product.data() + rank_ * columns, width);
  }
  const double* from = product.data();
  for (const Index i : order_) {
    std::copy_n(from, columns, h + i * columns);
    from += columns;
  }
}

void GramFactor::pull(const double* r, double* c, Index columns) const {
  if (rank_ == 0) return;
  const int width = static_cast<int>(columns);
  const int rank = static_cast<int>(rank_);
  const int stride = static_cast<int>(rows_.cols());
  const Index left = count() - rank_;
  const std::vector<double> sorted = permuted(r, order_, columns);
  std::copy_n(sorted.begin(), rank_ * columns, c);
  cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, rank, width, 1.0, rows_.data(), stride, c,
              width);
  if (left > 0) {
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rank, width, static_cast<int>(left), 1.0,
                rows_.view().row(rank_), stride, sorted.data() + rank_ * columns, width, 1.0, c, width);
  }
}

void GramFactor::coefficients(const double* beta, double* alpha, Index columns) const {
  std::fill_n(alpha, count() * columns, 0.0);
  if (rank_ == 0) return;
  std::vector<double> solved(beta, beta + rank_ * columns);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(rank_),
              static_cast<int>(columns), 1.0, rows_.data(), static_cast<int>(rows_.cols()), solved.data(),
              static_cast<int>(columns));
  for (Index i = 0; i < rank_; ++i) {
    std::copy_n(solved.data() + i * columns, columns, alpha + order_[static_cast<std::size_t>(i)] * columns);
  }
}

}  // namespace widelimit
