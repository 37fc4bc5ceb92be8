#include "widelimit/engine/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

constexpr int most_searches = 5;

/// ‖A⁻¹‖₁ is the maximum of the convex function ‖A⁻¹x‖₁ over the ball ‖x‖₁ ≤ 1, attained at a vertex ±e_j. From one
/// vertex the subgradient A⁻¹sign(A⁻¹x) gives the next, as long as the value increases.
template <typename Solve>
class InverseNorm {
 public:
  /// `solve` replaces columns x by A⁻¹x.
  InverseNorm(Index n, const Solve& solve) : solve_(solve), x_(usize(n)) {}

  [[nodiscard]] double estimate() {
    const Index n = std::ssize(x_);
    // The second column, an alternating vector, guards against cancellation in the search; one solve serves both.
    Matrix<double> start(n, 2, Content::unset);
    for (Index i = 0; i < n; ++i) {
      const double size = 1 + static_cast<double>(i) / static_cast<double>(std::max<Index>(n - 1, 1));
      start(i, 0) = 1.0 / static_cast<double>(n);
      start(i, 1) = i % 2 == 0 ? size : -size;
    }
    solve_(start.view());
    double best = 0;
    double apart = 0;
    for (Index i = 0; i < n; ++i) {
      x_[usize(i)] = start(i, 0);
      best += std::abs(start(i, 0));
      apart += std::abs(start(i, 1));
    }
    for (int search = 0; search < most_searches; ++search) {
      for (double& x : x_) x = x < 0 ? -1 : 1;
      solve();
      const auto corner =
          std::max_element(x_.begin(), x_.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
      const auto place = corner - x_.begin();
      std::fill(x_.begin(), x_.end(), 0.0);
      x_[usize(place)] = 1;
      const double found = solved_norm();
      if (!(found > best)) break;
      best = found;
    }
    return std::max(best, 2 * apart / (3 * static_cast<double>(n)));
  }

 private:
  void solve() { solve_(MatrixView<double>{x_.data(), std::ssize(x_), 1, 1}); }
  double solved_norm() {
    solve();
    double sum = 0;
    for (const double x : x_) sum += std::abs(x);
    return sum;
  }

  const Solve& solve_;
  std::vector<double> x_;
};

template <typename Solve>
double condition_of(Index n, double norm, const Solve& solve) {
  if (n == 0) return 1;
  const double condition = norm * InverseNorm<Solve>(n, solve).estimate();
  return std::isfinite(condition) ? condition : std::numeric_limits<double>::infinity();
}

/// A = VᵀΛV with the eigenvectors as rows of V.
class EigenvectorFactor final : public IndefiniteFactor {
 public:
  EigenvectorFactor(const Algebra& algebra, EngineMatrix a, Progress* progress)
      : algebra_(algebra), values_(algebra.eigenvectors(std::move(a), vectors_, progress)) {}

  [[nodiscard]] Index size() const override { return std::ssize(values_); }
  [[nodiscard]] Inertia inertia() const override { return eigenvalue_signs(values_); }
  void solve(MatrixView<double> b) const override {
    Matrix<double> scores(b.rows, b.cols, Content::unset);
    algebra_.multiply(Transpose::no, vectors_, b, scores.view());
    for (Index i = 0; i < b.rows; ++i) {
      for (Index j = 0; j < b.cols; ++j) scores(i, j) /= values_[usize(i)];
    }
    algebra_.multiply(Transpose::yes, vectors_, scores.view(), b);
  }

 private:
  const Algebra& algebra_;
  EngineMatrix vectors_;
  std::vector<double> values_;
};

template <typename T>
void product_of_copies(const Algebra& algebra, double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b,
                       MatrixView<const T> b, double beta, MatrixView<T> c) {
  EngineMatrix out = beta == 0 ? algebra.allocate(c.rows, c.cols, precision_of<T>)
                               : algebra.copy_of(algebra.hold(MatrixView<const T>(c)), precision_of<T>);
  algebra.product(alpha, op_a, algebra.hold(a), op_b, algebra.hold(b), beta, out);
  algebra.read(out, c);
}

}  // namespace

Inertia eigenvalue_signs(std::span<const double> eigenvalues) {
  Inertia result;
  if (eigenvalues.empty()) return result;
  const double rounding = static_cast<double>(eigenvalues.size()) * std::numeric_limits<double>::epsilon() *
                          std::max(std::abs(eigenvalues.front()), std::abs(eigenvalues.back()));
  for (const double value : eigenvalues) {
    ++(value > rounding ? result.positive : value < -rounding ? result.negative : result.zero);
  }
  return result;
}

void Algebra::host_product(double alpha, Transpose op_a, MatrixView<const float> a, Transpose op_b,
                           MatrixView<const float> b, double beta, MatrixView<float> c) const {
  product_of_copies(*this, alpha, op_a, a, op_b, b, beta, c);
}

void Algebra::host_product(double alpha, Transpose op_a, MatrixView<const double> a, Transpose op_b,
                           MatrixView<const double> b, double beta, MatrixView<double> c) const {
  product_of_copies(*this, alpha, op_a, a, op_b, b, beta, c);
}

double Algebra::condition(const EngineMatrix& u, double norm) const {
  return condition_of(u.rows(), norm, [&](MatrixView<double> x) { solve_factored(u, x); });
}

double Algebra::condition(const IndefiniteFactor& factor, double norm) {
  return condition_of(factor.size(), norm, [&](MatrixView<double> x) { factor.solve(x); });
}

std::unique_ptr<IndefiniteFactor> Algebra::indefinite_factor(EngineMatrix a, Progress* progress) const {
  return std::make_unique<EigenvectorFactor>(*this, std::move(a), progress);
}

void Algebra::solve_factored(const EngineMatrix& u, MatrixView<double> b) const {
  solve(Transpose::yes, u, b);
  solve(Transpose::no, u, b);
}

EngineMatrix Algebra::copy_of(const EngineMatrix& a, Precision precision) const {
  EngineMatrix result = allocate(a.rows(), a.cols(), precision);
  copy(a, result);
  return result;
}

EngineMatrix Algebra::copy_of(MatrixView<const double> host) const {
  EngineMatrix result = allocate(host.rows, host.cols, Precision::f64);
  write(host, result);
  return result;
}

}  // namespace widelimit
