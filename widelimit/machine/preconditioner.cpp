#include "widelimit/machine/preconditioner.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/machine/factor.hpp"
#include "widelimit/machine/lapack.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

constexpr Index pivot_block = 64;
constexpr double pivot_rounding = std::numeric_limits<double>::epsilon();
/// Least c′ beside the trace: L (c′I + LᵀL)⁻¹ Lᵀ v comes within c′/‖L‖² of v, and the difference must have digits.
constexpr double least_share = 1e-10;

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// `count` samples in proportion to `left`, by equal steps through their sum: who holds more than a step comes once.
std::vector<Index> draw(const std::vector<double>& left, Index count, double offset) {
  const double step = sum_of(left) / static_cast<double>(count);
  std::vector<Index> chosen;
  double passed = 0;
  double next = offset * step;
  for (std::size_t i = 0; i < left.size(); ++i) {
    passed += left[i];
    if (left[i] > 0 && passed > next) {
      chosen.push_back(static_cast<Index>(i));
      while (next < passed) next += step;
    }
  }
  return chosen;
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, Index inner, double alpha, MatrixView<const double> a,
          MatrixView<const double> b, double beta, MatrixView<double> c) {
  if (c.rows == 0 || c.cols == 0) return;
  cblas_dgemm(CblasRowMajor, ta, tb, lapack_size(c.rows), lapack_size(c.cols), lapack_size(inner), alpha, a.data,
              lapack_size(a.stride), b.data, lapack_size(b.stride), beta, c.data, lapack_size(c.stride));
}

/// Rows `chosen` of m.
Matrix<double> rows_of(MatrixView<const double> m, std::span<const Index> chosen) {
  Matrix<double> result(std::ssize(chosen), m.cols, Content::unset);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::copy_n(m.row(chosen[i]), m.cols, result.view().row(static_cast<Index>(i)));
  }
  return result;
}

}  // namespace

Preconditioner::Preconditioner(const GramProduct& k, std::span<const double> scale, double shift,
                               const PreconditionerOptions& options)
    : threads_(options.threads) {
  const BlasTeam team(threads_);
  std::vector<double> left = k.diagonal();
  for (double& value : left) value = std::max(value, 0.0);
  const double trace = sum_of(left);
  const Index wanted = std::min(options.rank, k.samples());
  l_ = Matrix<double>(k.samples(), std::max<Index>(wanted, 1));
  Pulse pulse(options.progress, wanted, "columns of the preconditioner");
  while (rank_ < wanted && sum_of(left) > static_cast<double>(k.samples()) * pivot_rounding * trace) {
    if (!grow(k, left, std::min(pivot_block, wanted - rank_))) break;
    pulse.at(rank_);
  }
  shift_ = shift + sum_of(left) / static_cast<double>(k.samples());
  if (!(shift_ > least_share * trace)) shift_ = trace > 0 ? least_share * trace : 1.0;
  factor(scale);
}

bool Preconditioner::grow(const GramProduct& k, std::vector<double>& left, Index columns) {
  const Random random(0, static_cast<std::uint64_t>(rank_));
  const std::vector<Index> chosen = draw(left, columns, random.uniform(0));
  const Index count = std::ssize(chosen);
  if (count == 0) return false;
  const Index n = k.samples();
  Matrix<double> c = k.columns(chosen);
  const MatrixView<double> known = l_.view().block(0, 0, n, rank_);
  if (rank_ > 0) gemm(CblasNoTrans, CblasTrans, rank_, -1, known, rows_of(known, chosen).view(), 1, c.view());
  Matrix<double> square = rows_of(c.view(), chosen);
  double trace = 0;
  for (Index j = 0; j < count; ++j) trace += square(j, j);
  for (Index j = 0; j < count; ++j) square(j, j) += 1e-12 * trace;  // copies among the chosen would end it
  if (factor_upper(square.view(), nullptr) != 0) return false;
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, lapack_size(n), lapack_size(count),
              1.0, square.data(), lapack_size(count), c.data(), lapack_size(count));
  for (Index i = 0; i < n; ++i) {
    double& own = left[static_cast<std::size_t>(i)];
    for (Index j = 0; j < count; ++j) {
      l_(i, rank_ + j) = c(i, j);
      own -= c(i, j) * c(i, j);
    }
    own = std::max(own, 0.0);
  }
  for (const Index i : chosen) left[static_cast<std::size_t>(i)] = 0;
  rank_ += count;
  return true;
}

/// S L takes the place of L.
void Preconditioner::factor(std::span<const double> scale) {
  for (std::size_t i = 0; i < scale.size(); ++i) {
    cblas_dscal(lapack_size(rank_), scale[i], l_.view().row(static_cast<Index>(i)), 1);
  }
  inner_ = Matrix<double>(rank_, rank_);
  if (rank_ == 0) return;
  for (Index j = 0; j < rank_; ++j) inner_(j, j) = shift_;
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, lapack_size(rank_), lapack_size(l_.rows()), 1.0, l_.data(),
              lapack_size(l_.cols()), 1.0, inner_.data(), lapack_size(rank_));
  if (factor_upper(inner_.view(), nullptr) != 0) rank_ = 0;
}

/// (v − L (c′I + LᵀL)⁻¹ Lᵀ v)/c′.
void Preconditioner::apply(MatrixView<const double> r, MatrixView<double> z) const {
  const BlasTeam team(threads_);
  for (Index i = 0; i < r.rows; ++i) std::copy_n(r.row(i), r.cols, z.row(i));
  if (rank_ > 0) {
    const MatrixView<const double> l = l_.view().block(0, 0, l_.rows(), rank_);
    const MatrixView<const double> u = inner_.view();
    Matrix<double> small(rank_, r.cols, Content::unset);
    gemm(CblasTrans, CblasNoTrans, l.rows, 1, l, r, 0, small.view());
    solve_upper<double>(u, true, small.view());
    solve_upper<double>(u, false, small.view());
    gemm(CblasNoTrans, CblasNoTrans, rank_, -1, l, small.view(), 1, z);
  }
  for (Index i = 0; i < z.rows; ++i) cblas_dscal(lapack_size(z.cols), 1 / shift_, z.row(i), 1);
}

std::size_t Preconditioner::bytes() const {
  return sizeof(double) * static_cast<std::size_t>(l_.rows() * l_.cols() + inner_.rows() * inner_.cols());
}

}  // namespace widelimit
