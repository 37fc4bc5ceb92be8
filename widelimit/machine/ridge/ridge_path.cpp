#include "widelimit/machine/ridge/ridge_path.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/ridge/prediction_error.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_proof.hpp"
#include "widelimit/machine/ridge/ridge_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr double path_rounding = std::numeric_limits<double>::epsilon();

/// Data common to all λ.
struct Path {
  GramMatrix k;
  MatrixView<const double> targets;
  std::span<const double> weights;
  bool bias = false;
  std::vector<double> scale;  ///< √w, empty without weights
  double norm = 0;            ///< ‖S K S‖₁

  [[nodiscard]] double scale_of(Index i) const { return factor_at(scale, i); }
};

/// Computes γ and b from A⁻¹Sy and v = A⁻¹s, and M_ii from A⁻¹_ii; the last column of `inverse.solution` is v.
void eliminate_bias(const Path& path, ShiftedInverse& inverse, std::vector<double>& bias) {
  const Index outputs = path.targets.cols;
  Matrix<double>& x = inverse.solution;
  double below = 0;
  for (Index i = 0; i < x.rows(); ++i) below += path.scale_of(i) * x(i, outputs);
  for (Index j = 0; j < outputs; ++j) {
    double above = 0;
    for (Index i = 0; i < x.rows(); ++i) above += path.scale_of(i) * x(i, j);
    bias[static_cast<std::size_t>(j)] = above / below;
    for (Index i = 0; i < x.rows(); ++i) x(i, j) -= above / below * x(i, outputs);
  }
  for (Index i = 0; i < x.rows(); ++i) {
    double& own = inverse.diagonal[static_cast<std::size_t>(i)];
    const double rest = own - x(i, outputs) * x(i, outputs) / below;
    own = rest > static_cast<double>(x.rows()) * path_rounding * own ? rest : 0.0;  // 0: no other sample for the bias
  }
}

void leave_out(const Path& path, const ShiftedInverse& inverse, RidgePoint& point) {
  Matrix<double> g;
  for (Index i = 0; i < path.targets.rows; ++i) {
    const double s = path.scale_of(i);
    const double own = inverse.diagonal[static_cast<std::size_t>(i)];
    if (s == 0 && g.rows() == 0)
      g = decision(point.fit, path.k.matrix(), path.k.engine());  // not in the fit: its prediction
    for (Index j = 0; j < path.targets.cols; ++j) {
      if (s == 0) {
        point.left_out(i, j) = g(i, j);
      } else {
        point.left_out(i, j) = own > 0 ? path.targets(i, j) - inverse.solution(i, j) / (s * own) : 0.0;
      }
    }
  }
}

RidgePoint empty_point(const Path& path, double lambda) {
  const Index n = path.targets.rows;
  const Index outputs = path.targets.cols;
  RidgePoint point;
  point.lambda = lambda;
  point.fit = zero_fit(n, outputs);
  point.left_out = Matrix<double>(n, outputs);
  point.fit.summary.method = "orthogonal reduction to a band, float64";
  return point;
}

/// Returns ‖A‖₁ max A⁻¹_ii, a lower bound of the condition number, close to it if the rows of A⁻¹ are similar.
double condition(const Path& path, double lambda, const ShiftedInverse& inverse) {
  return (path.norm + lambda / 2) * *std::max_element(inverse.diagonal.begin(), inverse.diagonal.end());
}

/// Computes the point of one λ; marks it as failed if values overflow float64 or A is singular up to rounding.
RidgePoint point_of(const Path& path, double lambda, ShiftedInverse& inverse) {
  RidgePoint point = empty_point(path, lambda);
  if (!inverse.positive_definite) return point;
  Summary& summary = point.fit.summary;
  summary.condition = condition(path, lambda, inverse);
  inverse.positive_definite = *summary.condition * path_rounding < 1;
  if (!std::isfinite(*summary.condition)) summary.condition.reset();
  if (!inverse.positive_definite) return point;
  if (path.bias) eliminate_bias(path, inverse, point.fit.bias);
  for (Index i = 0; i < path.targets.rows; ++i) {
    for (Index j = 0; j < path.targets.cols; ++j) point.fit.alpha(i, j) = path.scale_of(i) * inverse.solution(i, j);
  }
  leave_out(path, inverse, point);
  const double error = mean_squared_error(path.targets, point.left_out.view(), path.weights);
  inverse.positive_definite = all_finite(point.fit) && std::isfinite(error);
  if (!inverse.positive_definite) return empty_point(path, lambda);
  point.loo_error = error;
  point.loo_misclassified = misclassified(path.targets, point.left_out.view(), path.weights);
  return point;
}

void set_indefinite(const Path& path, const ShiftedFamily& family, RidgePath& result) {
  const Indefinite found = diagnosis(0, family.smallest_eigenvalue(), path.norm, path.k.samples(), path.k.epsilon());
  for (RidgePoint& point : result.points) {
    if (point.loo_error) continue;
    point.fit.summary.ending = Ending::not_positive_definite;
    point.fit.summary.message = found.message;
  }
}

template <typename Less>
std::optional<Index> least(const std::vector<RidgePoint>& points, const Less& less) {
  std::optional<Index> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].loo_error) continue;
    if (!best || less(points[i], points[static_cast<std::size_t>(*best)])) best = static_cast<Index>(i);
  }
  return best;
}

bool less_error(const RidgePoint& a, const RidgePoint& b) {
  return *a.loo_error < *b.loo_error || (*a.loo_error == *b.loo_error && a.lambda > b.lambda);
}

}  // namespace

std::optional<Index> RidgePath::best() const { return least(points, less_error); }

std::optional<Index> RidgePath::best_classifier() const {
  return least(points, [](const RidgePoint& a, const RidgePoint& b) {
    if (a.loo_misclassified == b.loo_misclassified) return less_error(a, b);
    return a.loo_misclassified < b.loo_misclassified;
  });
}

RidgePath ridge_path(const GramMatrix& k, MatrixView<const double> targets, std::span<const double> lambdas,
                     const RidgePathOptions& options) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  if (lambdas.empty()) fail(Code::input, "a path needs at least one lambda");
  for (const double lambda : lambdas) RidgeOptions{.lambda = lambda}.validate();
  (void)k.check();
  const Index n = k.samples();
  check_targets(targets, n);
  check_squares(targets);
  check_weights(options.weights, n);
  const double bytes = 2.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n);
  require_matrix_memory(k.engine(), bytes, std::nullopt, "a ridge path",
                        "fit single values of lambda, or fewer samples");

  Path path{k, targets, options.weights, options.bias, {}, 0};
  for (const double w : options.weights) path.scale.push_back(std::sqrt(w));
  const Algebra& algebra = k.algebra();
  EngineMatrix a = algebra.allocate(n, n, Precision::f64);
  const RidgeMatrix unshifted{k, path.scale, 0};
  path.norm = unshifted.write(a, options.progress);
  const auto family = algebra.shifted_family(std::move(a), options.progress);
  std::vector<double> shifts;
  for (const double lambda : lambdas) shifts.push_back(lambda / 2);
  std::vector<ShiftedInverse> inverses =
      family->inverses(right_hand_sides(targets, path.scale, options.bias).view(), shifts, options.progress);

  RidgePath result;
  bool failed = false;
  for (std::size_t i = 0; i < inverses.size(); ++i) {
    result.points.push_back(point_of(path, lambdas[i], inverses[i]));
    failed |= !inverses[i].positive_definite;
  }
  std::vector<RidgeSolution> solutions;
  for (RidgePoint& point : result.points) {
    if (point.loo_error) solutions.push_back({{targets, point.lambda, options.bias, options.weights}, &point.fit});
  }
  prove_ridges(k, solutions, options.progress);
  if (failed) set_indefinite(path, *family, result);
  const double seconds = seconds_since(start);
  for (RidgePoint& point : result.points) {
    point.fit.summary.seconds = seconds / static_cast<double>(result.points.size());
    point.fit.summary.memory = static_cast<std::size_t>(bytes);
  }
  return result;
}

}  // namespace widelimit
