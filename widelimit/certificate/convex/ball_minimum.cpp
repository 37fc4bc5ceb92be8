#include "widelimit/certificate/convex/ball_minimum.hpp"

#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// The problem, and room for factors.
class BallProblem {
 public:
  BallProblem(std::span<const double> g, MatrixView<const double> b, double length)
      : g_(g), b_(b), length_(length), factor_(b.rows, b.cols), n_(b.rows) {
    for (Index j = 0; j < b.rows; ++j) {
      double row = 0;
      for (Index k = 0; k < b.cols; ++k) row += std::abs(b(j, k));
      largest_ = std::max(largest_, row);
    }
  }

  /// ‖B‖ is not larger.
  [[nodiscard]] double largest() const { return largest_; }

  /// −∞ where B + μI is not proved to be positive definite.
  [[nodiscard]] double bound(double mu) {
    constexpr double nothing = -std::numeric_limits<double>::infinity();
    const auto n = static_cast<double>(n_);
    // A factor that exists in floating point proves λ_min > −(n + 2)·2⁻⁵²·trace of what was factored; twice that is
    // taken off first, so that λ_min of B + μI is at least once that.
    const double shift = 2 * (n + 2) * 0x1p-52 * n * (largest_ + mu);
    for (Index j = 0; j < b_.rows; ++j) {
      std::copy(b_.row(j), b_.row(j) + b_.cols, factor_.view().row(j));
      factor_(j, j) += mu - shift;
    }
    if (cpu::potrf(factor_.view()) != 0) return nothing;
    // v = −(B + μI)⁻¹g/2, and what is left of the gradient there costs no more than ‖left‖²/(4λ_min).
    std::vector<double> v(g_.begin(), g_.end());
    cpu::potrs(factor_.view(), v.data(), 1);
    for (double& x : v) x *= -0.5;
    std::vector<double> left(g_.begin(), g_.end());
    cpu::symv(2, b_, v, left);
    cpu::axpy(2 * mu, v, left);
    const double size = euclidean_norm(v.data(), n_), slope = euclidean_norm(g_.data(), n_);
    const double rounding = (n + 8) * 0x1p-52 * (slope + 2 * (std::sqrt(n) * largest_ + mu) * size);
    // The last term keeps the square of the rest from vanishing.
    const double rest = euclidean_norm(left.data(), n_) * (1 + 0x1p-40) + rounding + 0x1p-500;
    double value = 0;  // ⟨g, v⟩ + vᵀ(B + μI)v = ⟨g + left, v⟩/2
    for (std::size_t j = 0; j < v.size(); ++j) value += (g_[j] + left[j]) / 2 * v[j];
    const double result =
        value - rounding * size - rest * rest / (2 * shift) - mu * length_ * length_ * (1 + 0x1p-50) - n * 0x1p-1000;
    return std::isfinite(result) ? result : nothing;
  }

 private:
  std::span<const double> g_;
  MatrixView<const double> b_;
  double length_;
  Matrix<double> factor_;
  Index n_;
  double largest_ = 0;
};

}  // namespace

/// The bound is concave in μ; it is −∞ below −λ_min(B) and falls as −μ far above. Golden sections.
double ball_minimum(std::span<const double> g, MatrixView<const double> b, double length) {
  BallProblem problem(g, b, length);
  const double slope = euclidean_norm(g.data(), std::ssize(g));
  double low = 0, high = problem.largest() + slope / (2 * length) + std::numeric_limits<double>::min();
  const double crude = (slope + problem.largest() * length) * length * (1 + 0x1p-40) + 0x1p-1000;
  double best = std::max(-crude, problem.bound(high));
  constexpr double section = 0.381966;
  double left = low + section * (high - low), right = high - section * (high - low);
  double at_left = problem.bound(left), at_right = problem.bound(right);
  for (int round = 0; round < 10; ++round) {
    best = std::max({best, at_left, at_right});
    if (at_left < at_right || !std::isfinite(at_left)) {
      low = left, left = right, at_left = at_right;
      right = high - section * (high - low), at_right = problem.bound(right);
    } else {
      high = right, right = left, at_right = at_left;
      left = low + section * (high - low), at_left = problem.bound(left);
    }
  }
  return std::max({best, at_left, at_right});
}

}  // namespace widelimit
