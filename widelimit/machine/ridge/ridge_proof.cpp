#include "widelimit/machine/ridge/ridge_proof.hpp"

#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Rounding error of the few operations of one term of a sum, with a margin.
constexpr double term_rounding = 32 * unit_rounding;
/// Residual below which no more accurate product is needed, even if rounding dominates it.
constexpr double small_residual = 1e-9;

/// Returns a power of 2 near the largest target; scaled by it, squares of targets neither overflow nor underflow.
double unit_of(MatrixView<const double> targets) {
  double largest = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    for (Index j = 0; j < targets.cols; ++j) largest = std::max(largest, std::abs(targets(i, j)));
  }
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

/// Sums over all outputs, with targets and coefficients scaled by `unit_of`.
struct RidgeSums {
  double norm = 0;  ///< λ/2 αᵀKα
  double norm_error = 0;
  double curvature = 0;  ///< λ/2 Σ αᵢ²K_ii, the scale of the tolerance on αᵀKα
  double loss = 0;
  double loss_error = 0;
  double missing = 0;   ///< Σ w(r − λα/(2w))², without rounding
  double gap = 0;       ///< upper bound
  double residual = 0;  ///< upper bound without the correction for the bias
  double target = 0;    ///< Σ w y²
};

/// Returns an upper bound of |Σα| of one output.
double sum_off(const Matrix<double>& alpha, Index j, double unit) {
  CompensatedSum sum;
  double size = 0;
  for (Index i = 0; i < alpha.rows(); ++i) {
    sum.add(alpha(i, j) / unit);
    size += std::abs(alpha(i, j) / unit);
  }
  return std::abs(sum.value()) * (1 + term_rounding) + 2 * std::pow(rounding_of(alpha.rows()), 2) * size;
}

void add_output(MatrixView<const double> g, const ProductRounding& rounding, bool precise, const RidgeTask& task,
                const Fit& fit, Index j, double unit, RidgeSums& sums) {
  const Index n = g.rows;
  const double b = fit.bias[usize(j)] / unit;
  const ProductError error = rounding.error_of(fit.alpha.view(), j, precise);
  double heavy = 0;    // Σw
  double lengths = 0;  // Σ w√K_ii
  for (Index i = 0; i < n; ++i) {
    heavy += task.weight(i);
    lengths += task.weight(i) * rounding.lengths()[usize(i)];
  }
  const double surplus = task.bias ? sum_off(fit.alpha, j, unit) : 0;
  const double moved = task.lambda * surplus / 2 / heavy;  // change of λᾱ/(2w), the same for all samples
  sums.gap += task.lambda / 2 * std::pow(surplus / heavy * lengths, 2);
  for (Index i = 0; i < n; ++i) {
    const double w = task.weight(i);
    const double alpha = fit.alpha(i, j) / unit;
    const double value = g(i, j) / unit;
    const double off = error.at(usize(i)) / unit + 2 * unit_rounding * std::abs(value);
    sums.norm += task.lambda / 2 * alpha * value;
    sums.norm_error += task.lambda / 2 * std::abs(alpha) * (off + rounding_of(n + 8) * std::abs(value));
    sums.curvature += task.lambda / 2 * std::pow(alpha * rounding.lengths()[usize(i)], 2);
    if (w == 0) continue;
    CompensatedSum sum;
    for (const double term : {task.targets(i, j) / unit, -value, -b}) sum.add(term);
    const double r = sum.value();
    const double ridge_term = task.lambda * alpha / (2 * w);
    sum.add(-ridge_term);
    const double missing = std::abs(sum.value());
    const double added = std::abs(task.targets(i, j) / unit) + std::abs(value) + std::abs(b) + std::abs(ridge_term);
    const double rounded = off + 2 * unit_rounding * (std::abs(r) + std::abs(ridge_term) + unit_rounding * added);
    sums.loss += w * r * r;
    sums.loss_error += w * rounded * (2 * std::abs(r) + rounded);
    sums.missing += w * missing * missing;
    sums.residual += w * std::pow(missing + rounded, 2);
    sums.gap += w * std::pow(missing + rounded + moved, 2);
    sums.target += w * std::pow(task.targets(i, j) / unit, 2);
  }
}

/// Returns the coefficients of all solutions side by side.
Matrix<double> coefficients_of(Index samples, std::span<const RidgeSolution> solutions) {
  Index columns = 0;
  for (const RidgeSolution& solution : solutions) columns += solution.fit->alpha.cols();
  Matrix<double> all(samples, columns, Content::unset);
  Index first = 0;
  for (const RidgeSolution& solution : solutions) {
    const Matrix<double>& alpha = solution.fit->alpha;
    for (Index i = 0; i < samples; ++i)
      std::copy_n(alpha.data() + i * alpha.cols(), alpha.cols(), all.data() + i * columns + first);
    first += alpha.cols();
  }
  return all;
}

/// Runs check_residual on each solution with its columns of g = Kα. Returns the solutions whose residual is dominated
/// by rounding.
template <typename Multiply>
std::vector<RidgeSolution> check_solutions(const GramMatrix& k, std::span<const RidgeSolution> solutions,
                                           const Multiply& multiply, bool precise) {
  std::vector<RidgeSolution> imprecise;
  if (solutions.empty()) return imprecise;
  const Matrix<double> alpha = coefficients_of(k.samples(), solutions);
  Matrix<double> g(alpha.rows(), alpha.cols(), Content::unset);
  multiply(alpha, g);
  Index first = 0;
  for (const RidgeSolution& solution : solutions) {
    const Index outputs = solution.fit->alpha.cols();
    const ProductRounding rounding = ridge_rounding(k.diagonal(), k.check(), solution.task);
    const MatrixView<const double> own = g.view().block(0, first, g.rows(), outputs);
    if (check_residual(own, rounding, precise, solution.task, *solution.fit)) imprecise.push_back(solution);
    first += outputs;
  }
  return imprecise;
}

}  // namespace

ProductRounding ridge_rounding(std::span<const double> diagonal, double asymmetry, const RidgeTask& task) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double w = task.weight(static_cast<Index>(i));
    const double shift = w > 0 ? task.lambda / 2 / w : 0;
    lengths.push_back(std::sqrt(std::max(0.0, diagonal[i] + shift)));
  }
  return {std::move(lengths), asymmetry, term_rounding};
}

bool check_residual(MatrixView<const double> g, const ProductRounding& rounding, bool precise, const RidgeTask& task,
                    Fit& fit) {
  const double unit = unit_of(task.targets);
  RidgeSums sums;
  for (Index j = 0; j < g.cols; ++j) add_output(g, rounding, precise, task, fit, j, unit, sums);
  const double slack = term_rounding + rounding_of(g.rows * g.cols + 2);
  const double primal = sums.norm + sums.loss;
  const double error = (sums.norm_error + sums.loss_error + slack * (std::abs(sums.norm) + sums.loss)) * (1 + slack);
  const double gap = sums.gap * (1 + slack);
  Summary& summary = fit.summary;
  const auto set = [&](std::optional<double>& to, double value) {
    to = std::isfinite(value) ? std::optional(value) : std::nullopt;
  };
  set(summary.primal, primal * unit * unit);
  set(summary.gradient,
      sums.target > 0 ? std::sqrt(sums.residual / sums.target) * (1 + slack) : std::sqrt(sums.residual));
  summary.dual = summary.gap = std::nullopt;
  if (sums.norm + sums.norm_error < -slack * sums.curvature) {
    summary.message =
        "the Gram matrix has a negative eigenvalue: with the ridge its linear system is solvable, but the "
        "solution is not a minimum and has no duality gap";
  } else if (task.lambda > 0) {
    const double dual = primal - error - gap;
    set(summary.dual, dual * unit * unit);
    set(summary.gap, relative_gap(primal, dual));
  }
  return sums.residual > 4 * sums.missing && summary.gradient.value_or(1) > small_residual;
}

void prove_ridge(const GramMatrix& k, const RidgeTask& task, Fit& fit, Progress* progress) {
  prove_ridges(k, std::vector<RidgeSolution>{{task, &fit}}, progress);
}

void prove_ridges(const GramMatrix& k, std::span<const RidgeSolution> solutions, Progress* progress) {
  const auto multiply = [&](const Matrix<double>& v, Matrix<double>& g) { k.multiply(v.view(), g.view()); };
  const auto multiply_precisely = [&](const Matrix<double>& v, Matrix<double>& g) {
    k.multiply_precisely(v.view(), g.view(), progress);
  };
  const std::vector<RidgeSolution> imprecise = check_solutions(k, solutions, multiply, false);
  (void)check_solutions(k, imprecise, multiply_precisely, true);
}

}  // namespace widelimit
