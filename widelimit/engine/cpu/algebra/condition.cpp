#include "widelimit/engine/cpu/algebra/condition.hpp"

#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit::cpu {

namespace {

constexpr int most_searches = 5;

/// ‖A⁻¹‖₁ is the largest value of the convex function ‖A⁻¹x‖₁ on the ball ‖x‖₁ ≤ 1, and is attained at one of its
/// corners ±e_j. From one corner the subgradient A⁻¹sign(A⁻¹x) names the next, as long as the value grows.
template <std::floating_point T>
class InverseNorm {
 public:
  explicit InverseNorm(MatrixView<const T> u) : u_(u), x_(at(u.rows)) {}

  [[nodiscard]] double estimate() {
    const Index n = u_.rows;
    std::fill(x_.begin(), x_.end(), static_cast<T>(1.0 / static_cast<double>(n)));
    double best = solved_norm();
    for (int search = 0; search < most_searches; ++search) {
      for (T& x : x_) x = static_cast<T>(x < 0 ? -1 : 1);
      solve();
      const auto corner = std::max_element(x_.begin(), x_.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
      const auto place = corner - x_.begin();
      std::fill(x_.begin(), x_.end(), T{0});
      x_[at(place)] = 1;
      const double found = solved_norm();
      if (!(found > best)) break;
      best = found;
    }
    // A vector on which cancellation cannot deceive all searches.
    for (Index i = 0; i < n; ++i) {
      const double size = 1 + static_cast<double>(i) / static_cast<double>(std::max<Index>(n - 1, 1));
      x_[at(i)] = static_cast<T>(i % 2 == 0 ? size : -size);
    }
    return std::max(best, 2 * solved_norm() / (3 * static_cast<double>(n)));
  }

 private:
  void solve() {
    const MatrixView<T> column{x_.data(), u_.rows, 1, 1};
    tiled_solve<T>(u_, Transpose::yes, column);
    tiled_solve<T>(u_, Transpose::no, column);
  }
  double solved_norm() {
    solve();
    double sum = 0;
    for (const T x : x_) sum += std::abs(static_cast<double>(x));
    return sum;
  }

  MatrixView<const T> u_;
  std::vector<T> x_;
};

}  // namespace

template <std::floating_point T>
double condition_of(MatrixView<const T> u, double norm) {
  if (u.rows == 0) return 1;
  const double condition = norm * InverseNorm<T>(u).estimate();
  return std::isfinite(condition) ? condition : std::numeric_limits<double>::infinity();
}

template double condition_of(MatrixView<const float>, double);
template double condition_of(MatrixView<const double>, double);

}  // namespace widelimit::cpu
