#include "widelimit/machine/gram_factor.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <numeric>

// LAPACK inside OpenBLAS. It is column-major, so its upper triangle is the lower one of our rows.
extern "C" {
void dpotrf_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void dpstrf_(const char* triangle, const int* n, double* a, const int* lda, int* pivots, int* rank, const double* least,
             double* work, int* info);
}

namespace widelimit {

namespace {

/// What is left of a semi-definite K beside the pivots may exceed the last of them by rounding only.
constexpr double remainder_allowance = 100;

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

GramFactor::GramFactor(const DenseGram& k)
    : rows_(k.count(), k.count(), Content::unset), order_(static_cast<std::size_t>(k.count())) {
  std::iota(order_.begin(), order_.end(), Index{0});
  const double least = 4 * std::sqrt(static_cast<double>(k.count())) * k.epsilon() * largest_diagonal(k);
  if (!factorise_plainly(k, least)) {
    factorise_with_pivots(k, least);
    const double allowed = remainder_allowance * std::max(least, 1e-300);
    complete_ = largest_remainder(k) <= allowed;
  }
  for (Index i = 0; i < rank_; ++i) std::fill(rows_.view().row(i) + i + 1, rows_.view().row(i) + k.count(), 0.0);
}

bool GramFactor::factorise_plainly(const DenseGram& k, double least) {
  const int n = static_cast<int>(k.count());
  for (Index i = 0; i < k.count(); ++i) std::copy_n(k.row(i), i + 1, rows_.view().row(i));
  int info = 0;
  dpotrf_("U", &n, rows_.data(), &n, &info);
  rank_ = k.count();
  for (Index i = 0; info == 0 && i < k.count(); ++i) {
    if (!(rows_(i, i) * rows_(i, i) > least)) info = 1;
  }
  return info == 0;
}

void GramFactor::factorise_with_pivots(const DenseGram& k, double least) {
  const int n = static_cast<int>(k.count());
  for (Index i = 0; i < k.count(); ++i) std::copy_n(k.row(i), i + 1, rows_.view().row(i));
  if (!(largest_diagonal(k) > 0)) {
    rank_ = 0;
    return;
  }
  std::vector<int> pivots(order_.size());
  std::vector<double> work(2 * order_.size());
  int rank = 0;
  int info = 0;
  dpstrf_("U", &n, rows_.data(), &n, pivots.data(), &rank, &least, work.data(), &info);
  rank_ = rank;
  std::transform(pivots.begin(), pivots.end(), order_.begin(), [](int pivot) { return Index{pivot} - 1; });
}

double GramFactor::largest_remainder(const DenseGram& k) const {
  const Index left = count() - rank_;
  Matrix<double> product(left, left);
  const MatrixView<const double> l = rows().block(rank_, 0, left, rank_);
  if (left > 0 && rank_ > 0) {
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(left), static_cast<int>(rank_), 1.0, l.data,
                static_cast<int>(l.stride), 0.0, product.data(), static_cast<int>(left));
  }
  double largest = 0;
  for (Index i = 0; i < left; ++i) {
    const double* row = k.row(order_[static_cast<std::size_t>(rank_ + i)]);
    for (Index j = 0; j <= i; ++j) {
      largest = std::max(largest, std::fabs(row[order_[static_cast<std::size_t>(rank_ + j)]] - product(i, j)));
    }
  }
  return largest;
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
