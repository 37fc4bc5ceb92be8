#include "widelimit/machine/factor/cholesky.hpp"

#include "widelimit/engine/device_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Largest condition number for a float32 factor. Each refinement step gains log₁₀(1/(κ ε)) digits; gaining less than
/// one digit is not worth its products.
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

std::vector<double> RidgeMatrix::added_diagonal() const {
  double largest = 0;
  for (Index i = 0; i < k.samples(); ++i)
    largest = std::max(largest, scale_of(i) * scale_of(i) * k.diagonal()[usize(i)]);
  const double idle = largest + shift > 0 ? largest + shift : 1.0;
  std::vector<double> added;
  for (Index i = 0; i < k.samples(); ++i) added.push_back(scale_of(i) == 0 ? idle : shift);
  return added;
}

void RidgeMatrix::residual(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> out) const {
  if (scale.empty()) {
    k.multiply(x, out);
  } else {
    Matrix<double> scaled(x.rows, x.cols, Content::unset);
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.cols; ++j) scaled(i, j) = scale_of(i) * x(i, j);
    }
    k.multiply(scaled.view(), out);
  }
  for (Index i = 0; i < x.rows; ++i) {
    const double s = scale_of(i);
    for (Index j = 0; j < x.cols; ++j) out(i, j) = s == 0 ? 0.0 : b(i, j) - s * out(i, j) - shift * x(i, j);
  }
}

double RidgeMatrix::write(EngineMatrix& a, Progress* progress) const {
  const double norm = k.algebra().scaled(k.matrix(), scale, added_diagonal(), a, progress);
  if (a.precision() == Precision::f64 && !std::isfinite(norm)) {
    fail(Code::numerical,
         "the linear system exceeds the range of float64: its entries are those of the Gram matrix times √(wᵢwⱼ) for "
         "weights w, plus λ/2 on the diagonal; divide the kernel, the weights or λ by a constant");
  }
  return norm;
}

Cholesky::Cholesky(const RidgeMatrix& a, FactorPrecision factor, Progress* progress)
    : a_(a), algebra_(a.k.algebra()), progress_(progress) {
  const bool single =
      factor == FactorPrecision::f32 || (factor == FactorPrecision::automatic && a.k.precision() == Precision::f32);
  if (!single || !factorise(Precision::f32)) (void)factorise(Precision::f64);
}

bool Cholesky::factorise(Precision precision) {
  const bool single = precision == Precision::f32;
  const Index n = a_.k.samples();
  factor_ = {};
  const double entries = static_cast<double>(n) * static_cast<double>(n);
  require_matrix_memory(
      a_.k.engine(), entries * static_cast<double>(size_of(precision)), std::nullopt, "a Cholesky factor",
      single ? "solve by conjugate gradients" : "ask for a float32 factor or solve by conjugate gradients");
  factor_ = algebra_.allocate(n, n, precision);
  norm_ = a_.write(factor_, progress_);
  const Index minor = algebra_.cholesky(factor_, progress_);
  condition_ = minor == 0 ? algebra_.condition(factor_, norm_) : std::numeric_limits<double>::infinity();
  if (single) return condition_ <= largest_single_condition;
  failed_minor_ = minor;
  if (minor == 0 && !(condition_ * std::numeric_limits<double>::epsilon() < 1)) failed_minor_ = weakest_minor();
  return true;
}

/// Returns the order i of the row with the smallest ratio U_ii²/A_ii.
Index Cholesky::weakest_minor() const {
  const std::vector<double> pivots = algebra_.diagonal(factor_);
  Index weakest = 1;
  double least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < factor_.rows(); ++i) {
    const double s = a_.scale_of(i);
    if (s == 0) continue;
    const double share = pivots[usize(i)] * pivots[usize(i)] / (s * s * a_.k.diagonal()[usize(i)] + a_.shift);
    if (share < least) {
      least = share;
      weakest = i + 1;
    }
  }
  return weakest;
}

double Cholesky::log_determinant() const {
  const std::vector<double> pivots = algebra_.diagonal(factor_);
  double sum = 0;
  for (Index i = 0; i < factor_.rows(); ++i) {
    if (a_.scale_of(i) != 0) sum += std::log(pivots[usize(i)]);
  }
  return 2 * sum;
}

std::string Cholesky::method() const {
  return single() ? "Cholesky, float32, refined in float64" : "Cholesky, float64, refined once";
}

/// Returns the number of steps, or 0 if they did not converge. Stops at ‖b − A x‖∞ ≤ √n ε ‖A‖ ‖x‖∞, the accuracy of a
/// float64 solve.
Index Cholesky::refine_single(MatrixView<const double> b, MatrixView<double> x) const {
  Matrix<double> r(b.rows, b.cols, Content::unset);
  const double small = std::sqrt(static_cast<double>(b.rows)) * std::numeric_limits<double>::epsilon() * norm_;
  for (Index step = 1; step <= most_refinements; ++step) {
    a_.residual(x, b, r.view());
    bool done = true;
    for (Index j = 0; j < b.cols; ++j) done &= column_maximum(r.view(), j) <= small * column_maximum(x, j);
    algebra_.solve_factored(factor_, r.view());
    add(r.view(), x);
    if (done) return step;
  }
  return 0;
}

Index Cholesky::solve(MatrixView<double> b) {
  Matrix<double> x(b.rows, b.cols, Content::unset);
  copy(b, x.view());
  algebra_.solve_factored(factor_, x.view());
  Index steps = 1;
  if (single()) {
    steps = refine_single(b, x.view());
    if (steps == 0) {
      (void)factorise(Precision::f64);
      return failed_minor_ == 0 ? solve(b) : 0;
    }
  } else {
    Matrix<double> r(b.rows, b.cols, Content::unset);
    a_.residual(x.view(), b, r.view());
    algebra_.solve_factored(factor_, r.view());
    add(r.view(), x.view());
  }
  copy(x.view(), b);
  return steps;
}

}  // namespace widelimit
