#include "widelimit/machine/factor/cholesky.hpp"

#include "widelimit/base/memory.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/condition.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"
#include "widelimit/machine/gram/product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// Refinement gains log₁₀(1/(κ ε)) digits a step; below one digit it is not worth its products.
constexpr double largest_single_condition = 0.1 / static_cast<double>(std::numeric_limits<float>::epsilon());
constexpr Index most_refinements = 20;

void copy(MatrixView<const double> from, MatrixView<double> to) {
  for (Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, to.row(i));
}

void add(MatrixView<const double> from, MatrixView<double> to) {
  for (Index i = 0; i < from.rows; ++i) {
    for (Index j = 0; j < from.cols; ++j) to(i, j) += from(i, j);
  }
}

double column_maximum(MatrixView<const double> x, Index column) {
  double largest = 0;
  for (Index i = 0; i < x.rows; ++i) largest = std::max(largest, std::abs(x(i, column)));
  return largest;
}

}  // namespace

Cholesky::Cholesky(const RidgeMatrix& a, Factor factor, int threads, Progress* progress)
    : a_(a), threads_(team_size(threads)), progress_(progress) {
  const bool single =
      factor == Factor::f32 || (factor == Factor::automatic && std::holds_alternative<MatrixView<const float>>(a.k));
  if (single) factor_single();
  if (single_.rows() == 0) factor_twice();
}

void Cholesky::factor_single() {
  const cpu::AlgebraTeam team(threads_);
  const Index n = samples_of(a_.k);
  require_memory(sizeof(float) * static_cast<double>(n) * static_cast<double>(n), std::nullopt, "a Cholesky factor",
                 "solve by conjugate gradients");
  single_ = Matrix<float>(n, n, Content::unset);
  norm_ = fill_upper(a_, single_.view(), threads_, progress_);
  if (cpu::tiled_cholesky<float>(single_.view(), progress_) == 0)
    condition_ = cpu::condition_of<float>(single_.view(), norm_);
  if (!(condition_ > 0 && condition_ <= largest_single_condition)) single_ = {};
}

void Cholesky::factor_twice() {
  const cpu::AlgebraTeam team(threads_);
  const Index n = samples_of(a_.k);
  single_ = {};
  require_memory(sizeof(double) * static_cast<double>(n) * static_cast<double>(n), std::nullopt, "a Cholesky factor",
                 "ask for a float32 factor or solve by conjugate gradients");
  twice_ = Matrix<double>(n, n, Content::unset);
  norm_ = fill_upper(a_, twice_.view(), threads_, progress_);
  failed_minor_ = cpu::tiled_cholesky<double>(twice_.view(), progress_);
  condition_ =
      failed_minor_ == 0 ? cpu::condition_of<double>(twice_.view(), norm_) : std::numeric_limits<double>::infinity();
  if (failed_minor_ == 0 && !(condition_ * std::numeric_limits<double>::epsilon() < 1)) failed_minor_ = weakest_minor();
}

/// Where a pivot is all rounding: the row whose own part U_ii² of A_ii is least.
Index Cholesky::weakest_minor() const {
  Index weakest = 1;
  double least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < twice_.rows(); ++i) {
    const double s = a_.scale_of(i);
    if (s == 0) continue;
    const double diagonal = std::visit([&](const auto& k) { return s * s * static_cast<double>(k(i, i)); }, a_.k);
    const double share = twice_(i, i) * twice_(i, i) / (diagonal + a_.shift);
    if (share < least) {
      least = share;
      weakest = i + 1;
    }
  }
  return weakest;
}

double Cholesky::log_determinant() const {
  double sum = 0;
  for (Index i = 0; i < samples_of(a_.k); ++i) {
    if (a_.scale_of(i) != 0) sum += std::log(single() ? static_cast<double>(single_(i, i)) : twice_(i, i));
  }
  return 2 * sum;
}

std::string Cholesky::method() const {
  return single() ? "Cholesky, float32, refined in float64" : "Cholesky, float64, refined once";
}

std::size_t Cholesky::bytes() const {
  const auto n = static_cast<std::size_t>(samples_of(a_.k));
  return n * n * (single() ? sizeof(float) : sizeof(double));
}

void Cholesky::back_substitute(MatrixView<double> b) const {
  if (!single()) {
    cpu::tiled_solve<double>(twice_.view(), Transpose::yes, b);
    cpu::tiled_solve<double>(twice_.view(), Transpose::no, b);
    return;
  }
  // Columns are scaled to 1, so that neither large nor small ones leave the range of float32.
  Matrix<float> rounded(b.rows, b.cols, Content::unset);
  std::vector<double> scale(static_cast<std::size_t>(b.cols));
  for (Index j = 0; j < b.cols; ++j) {
    const double largest = column_maximum(b, j);
    scale[static_cast<std::size_t>(j)] = largest > 0 ? largest : 1.0;
    for (Index i = 0; i < b.rows; ++i) rounded(i, j) = static_cast<float>(b(i, j) / scale[static_cast<std::size_t>(j)]);
  }
  cpu::tiled_solve<float>(single_.view(), Transpose::yes, rounded.view());
  cpu::tiled_solve<float>(single_.view(), Transpose::no, rounded.view());
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.cols; ++j) {
      b(i, j) = scale[static_cast<std::size_t>(j)] * static_cast<double>(rounded(i, j));
    }
  }
}

/// Steps taken, or 0 where they did not converge. The end: ‖b − A x‖∞ ≤ √n ε ‖A‖ ‖x‖∞, all that float64 would reach.
Index Cholesky::refine_single(MatrixView<const double> b, MatrixView<double> x) const {
  Matrix<double> r(b.rows, b.cols, Content::unset);
  const double small = std::sqrt(static_cast<double>(b.rows)) * std::numeric_limits<double>::epsilon() * norm_;
  for (Index step = 1; step <= most_refinements; ++step) {
    a_.residual(x, b, r.view());
    bool done = true;
    for (Index j = 0; j < b.cols; ++j) done &= column_maximum(r.view(), j) <= small * column_maximum(x, j);
    back_substitute(r.view());
    add(r.view(), x);
    if (done) return step;
  }
  return 0;
}

Index Cholesky::solve(MatrixView<double> b) {
  const cpu::AlgebraTeam team(threads_);
  Matrix<double> x(b.rows, b.cols, Content::unset);
  copy(b, x.view());
  back_substitute(x.view());
  Index steps = 1;
  if (single()) {
    steps = refine_single(b, x.view());
    if (steps == 0) {
      factor_twice();
      return failed_minor_ == 0 ? solve(b) : 0;
    }
  } else {
    Matrix<double> r(b.rows, b.cols, Content::unset);
    a_.residual(x.view(), b, r.view());
    back_substitute(r.view());
    add(r.view(), x.view());
  }
  copy(x.view(), b);
  return steps;
}

}  // namespace widelimit
