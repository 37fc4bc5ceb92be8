#include "widelimit/machine/ridge/conjugate_gradient.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/ridge/preconditioner.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_proof.hpp"
#include "widelimit/machine/ridge/ridge_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

constexpr Index iteration_bound = 100'000;

using Sums = std::vector<double>;

double& entry(Sums& values, Index j) { return values[static_cast<std::size_t>(j)]; }

/// aⱼᵀbⱼ for each column.
Sums dots(const Matrix<double>& a, const Matrix<double>& b) {
  Sums sums(static_cast<std::size_t>(a.cols()));
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) entry(sums, j) += a(i, j) * b(i, j);
  }
  return sums;
}

Matrix<double> chosen_columns(const Matrix<double>& m, const std::vector<Index>& which) {
  Matrix<double> result(m.rows(), std::ssize(which), Content::unset);
  for (Index i = 0; i < m.rows(); ++i) {
    for (std::size_t j = 0; j < which.size(); ++j) result(i, static_cast<Index>(j)) = m(i, which[j]);
  }
  return result;
}

/// Progress adapter: predicts the total number of products, assuming that residuals decrease by a constant factor.
class ExpectedProducts final : public Progress {
 public:
  ExpectedProducts(Progress* whole, Index samples, double tolerance)
      : whole_(whole), pairs_(samples * (samples + 1) / 2), tolerance_(tolerance) {}

  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override {
    const bool known = unit == "pairs" && total == pairs_;
    return whole_->update(products_ * pairs_ + (known ? done : 0), std::max(expected_, products_ + 1) * pairs_,
                          "pairs");
  }
  /// Records a finished product and its residual.
  void next(double residual) {
    ++products_;
    if (residual > 0 && residual < 1) {
      const double more = std::log(tolerance_) / std::log(residual) * static_cast<double>(products_);
      expected_ = static_cast<Index>(std::ceil(std::min(more, 1e6))) + 1;  // one for the final summary
    }
    if (whole_ != nullptr && !update(0, 0, "")) {
      fail(Code::interrupted, "stopped after {} iterations at a residual of {:.1e}", products_, residual);
    }
  }

 private:
  Progress* whole_;
  Index pairs_;
  double tolerance_;
  Index products_ = 0;
  Index expected_ = 20;
};

/// S K S + c I.
struct RidgeProduct {
  const GramMatrix& k;
  std::span<const double> scale;
  double shift;
  Progress* progress;

  [[nodiscard]] Matrix<double> operator()(const Matrix<double>& v) const {
    Matrix<double> scaled(v.rows(), v.cols(), Content::unset);
    for (Index i = 0; i < v.rows(); ++i) {
      for (Index j = 0; j < v.cols(); ++j) scaled(i, j) = factor_at(scale, i) * v(i, j);
    }
    Matrix<double> out(v.rows(), v.cols(), Content::unset);
    k.multiply(scaled.view(), out.view(), progress);
    for (Index i = 0; i < v.rows(); ++i) {
      for (Index j = 0; j < v.cols(); ++j) out(i, j) = factor_at(scale, i) * out(i, j) + shift * v(i, j);
    }
    return out;
  }
};

/// State of the recursion on the unfinished columns of X; `places` holds their indices.
struct Recursion {
  Matrix<double> x;
  std::vector<Index> places;
  Sums sizes;          ///< ‖bⱼ‖²
  Matrix<double> r;    ///< b − A x
  Matrix<double> p;    ///< directions, empty before the first step
  Sums rz;             ///< rᵀz of the current directions
  double largest = 0;  ///< largest ‖rⱼ‖/‖bⱼ‖
};

/// Removes the columns that reached the tolerance.
void drop_finished(Recursion& s, double tolerance) {
  const Sums squares = dots(s.r, s.r);
  std::vector<Index> open;
  s.largest = 0;
  for (std::size_t j = 0; j < squares.size(); ++j) {
    const double relative = s.sizes[j] > 0 ? std::sqrt(squares[j] / s.sizes[j]) : 0.0;
    s.largest = std::max(s.largest, relative);
    if (!(relative <= tolerance)) open.push_back(static_cast<Index>(j));
  }
  if (open.size() == squares.size()) return;
  s.r = chosen_columns(s.r, open);
  s.sizes = chosen(std::span<const double>(s.sizes), open);
  if (s.p.rows() > 0) {
    s.p = chosen_columns(s.p, open);
    s.rz = chosen(std::span<const double>(s.rz), open);
  }
  s.places = chosen(std::span<const Index>(s.places), open);
}

/// p ← z + (rᵀz/previous rᵀz) p,  z = M r.
void turn(Recursion& s, const Preconditioner& preconditioner) {
  Matrix<double> z(s.r.rows(), s.r.cols(), Content::unset);
  preconditioner.apply(s.r.view(), z.view());
  Sums rz = dots(s.r, z);
  if (s.p.rows() > 0) {
    for (Index i = 0; i < z.rows(); ++i) {
      for (Index j = 0; j < z.cols(); ++j) z(i, j) += entry(rz, j) / entry(s.rz, j) * s.p(i, j);
    }
  }
  s.p = std::move(z);
  s.rz = std::move(rz);
}

/// x ← x + a p, r ← r − a A p. Returns false if pᵀAp ≤ 0 for some p.
bool advance(Recursion& s, const RidgeProduct& a) {
  const Matrix<double> ap = a(s.p);
  const Sums curvature = dots(s.p, ap);
  Sums steps;
  for (std::size_t j = 0; j < curvature.size(); ++j) {
    if (!(curvature[j] > 0) || !(s.rz[j] > 0)) return false;
    steps.push_back(s.rz[j] / curvature[j]);
  }
  for (Index i = 0; i < ap.rows(); ++i) {
    for (Index j = 0; j < ap.cols(); ++j) {
      s.x(i, s.places[static_cast<std::size_t>(j)]) += entry(steps, j) * s.p(i, j);
      s.r(i, j) -= entry(steps, j) * ap(i, j);
    }
  }
  return true;
}

/// Iterates until convergence, the iteration limit or negative curvature.
Ending iterate(Recursion& s, const RidgeProduct& a, const Preconditioner& preconditioner,
               const ConjugateGradientOptions& options, ExpectedProducts& expected, std::vector<double>& residuals) {
  drop_finished(s, options.tolerance);
  while (!s.places.empty()) {
    if (std::ssize(residuals) == options.max_iterations) return Ending::iteration_limit;
    turn(s, preconditioner);
    if (!advance(s, a)) return Ending::not_positive_definite;
    drop_finished(s, options.tolerance);
    residuals.push_back(s.largest);
    expected.next(s.largest);
  }
  return Ending::converged;
}

std::string message_of(Ending ending, const ConjugateGradientOptions& options, double residual) {
  switch (ending) {
    case Ending::iteration_limit:
      return fmt::format(
          "the residual is {:.1e} after {} iterations, above the tolerance {:.1e}; a preconditioner of higher rank or "
          "a larger lambda converges faster",
          residual, options.max_iterations, options.tolerance);
    case Ending::not_positive_definite:
      return fmt::format("the Gram matrix with the ridge lambda = {} is not positive definite; give a larger lambda",
                         options.lambda);
    default:
      return "";
  }
}

}  // namespace

void ConjugateGradientOptions::validate() const {
  RidgeOptions{.lambda = lambda}.validate();
  if (!(tolerance > 0) || tolerance >= 1) fail(Code::usage, "tolerance {} must lie between 0 and 1", tolerance);
  if (max_iterations < 1 || max_iterations > iteration_bound) {
    fail(Code::usage, "{} iterations; choose 1 to {}", max_iterations, iteration_bound);
  }
  if (rank.value_or(0) < 0) fail(Code::usage, "the rank of the preconditioner is {}; it must not be negative", *rank);
}

ConjugateGradientFit conjugate_gradients(const GramMatrix& k, MatrixView<const double> targets,
                                         const ConjugateGradientOptions& options) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  (void)k.check();
  const Index n = k.samples();
  check_targets(targets, n);
  check_squares(targets);
  check_weights(options.weights, n);
  const std::vector<double> scale = scale_of_weights(options.weights, options.lambda);
  ExpectedProducts expected(options.progress, n, options.tolerance);
  const RidgeProduct a{k, scale, options.lambda / 2, expected.get()};
  const Preconditioner preconditioner(k, scale, a.shift, {options.rank, options.memory, options.progress});

  Recursion s;
  s.r = right_hand_sides(targets, scale, options.bias);
  s.x = Matrix<double>(n, s.r.cols());
  s.sizes = dots(s.r, s.r);
  s.places.resize(s.sizes.size());
  std::iota(s.places.begin(), s.places.end(), Index{0});
  const Index columns = s.r.cols();

  ConjugateGradientFit result{zero_fit(n, targets.cols), {}, {}, preconditioner.rank()};
  Summary& summary = result.fit.summary;
  summary.ending = iterate(s, a, preconditioner, options, expected, result.residuals);
  summary.message = message_of(summary.ending, options, s.largest);
  if (summary.ending != Ending::not_positive_definite) set_coefficients(s.x, scale, options.bias, result.fit);
  if (!all_finite(result.fit)) {
    Summary kept = summary;
    result.fit = zero_fit(n, targets.cols);
    summary = std::move(kept);
    summary.ending = Ending::not_positive_definite;
    summary.message = "the coefficients exceed the range of float64; scale the kernel or give a larger lambda";
  }
  Matrix<double> g(n, targets.cols, Content::unset);
  k.multiply(result.fit.alpha.view(), g.view(), expected.get());
  const RidgeTask task{targets, options.lambda, options.bias, options.weights};
  (void)check_residual(g.view(), ridge_rounding(k.diagonal(), k.check(), task), false, task, result.fit);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < g.cols(); ++j) g(i, j) += result.fit.bias[static_cast<std::size_t>(j)];
  }
  result.decisions = std::move(g);
  summary.method = fmt::format("conjugate gradients, preconditioner of rank {}, {}", preconditioner.rank(),
                               preconditioner.single() ? "float32" : "float64");
  summary.iterations = std::ssize(result.residuals);
  summary.memory = k.bytes() + preconditioner.bytes() + 6 * sizeof(double) * static_cast<std::size_t>(n * columns);
  summary.seconds = seconds_since(start);
  return result;
}

}  // namespace widelimit
