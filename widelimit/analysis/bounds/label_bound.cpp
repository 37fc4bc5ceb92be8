#include "widelimit/analysis/bounds/label_bound.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/factor/gram_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// Tolerance, relative to the largest value, for dependent samples to agree with the interpolant.
constexpr double same_value = 1e-6;

/// Solves L_r β = y for the pivot samples by forward substitution, then checks the remaining samples.
InterpolantNorm singular_norm(const GramMatrix& h, std::span<const double> y, Progress* progress) {
  const GramFactor factor(h, progress);
  if (!factor.complete()) {
    fail(Code::input, "the kernel has negative eigenvalues and defines no norm; add to its diagonal");
  }
  const Index rank = factor.rank();
  // Rows of L in pivot order; the first `rank` rows form L_r.
  Matrix<double> rows(factor.count(), rank, Content::unset);
  h.algebra().read(factor.rows(), rows.view());
  std::vector<double> beta(usize(rank));
  const auto value_of = [&](Index i) { return y[usize(factor.order()[usize(i)])]; };
  const auto dot = [&](Index i, Index count) {
    double sum = 0;
    for (Index j = 0; j < count; ++j) sum += rows(i, j) * beta[usize(j)];
    return sum;
  };
  double largest = 0;
  for (const double value : y) largest = std::max(largest, std::fabs(value));
  double square = 0;
  for (Index i = 0; i < rank; ++i) {
    double& unknown = beta[static_cast<std::size_t>(i)];
    unknown = (value_of(i) - dot(i, i)) / rows(i, i);
    square += unknown * unknown;
  }
  InterpolantNorm result;
  for (Index i = rank; i < rows.rows(); ++i) {
    const double implied = dot(i, rank);
    if (std::fabs(value_of(i) - implied) <= same_value * largest) continue;
    result.message = fmt::format(
        "the kernel is singular, of rank {} for {} samples; sample {} has the value {:.4g}, but the other samples "
        "imply {:.4g}: no function of the kernel interpolates; remove repeated samples, or add to the diagonal",
        rank, rows.rows(), factor.order()[static_cast<std::size_t>(i)], value_of(i), implied);
    return result;
  }
  if (!std::isfinite(square)) fail(Code::numerical, "the norm of the labels is beyond float64; scale the kernel");
  result.square = square;
  result.message = fmt::format("the kernel is singular, of rank {} for {} samples; the labels are consistent with it",
                               rank, rows.rows());
  return result;
}

}  // namespace

InterpolantNorm interpolant_norm(const GramMatrix& h, std::span<const double> y, Progress* progress) {
  h.check();
  const Index n = h.samples();
  if (std::ssize(y) != n) fail(Code::input, "{} values for a kernel of {} samples", y.size(), n);
  Matrix<double> solved(n, 1, Content::unset);
  for (Index i = 0; i < n; ++i) {
    const double value = y[static_cast<std::size_t>(i)];
    if (!std::isfinite(value)) fail(Code::input, "value {} is {}; it must be finite", i, value);
    solved(i, 0) = value;
  }
  Cholesky cholesky({h, {}, 0}, FactorPrecision::f64, progress);
  if (cholesky.failed_minor() != 0) return singular_norm(h, y, progress);
  (void)cholesky.solve(solved.view());
  InterpolantNorm result;
  result.condition = cholesky.condition();
  double square = 0;
  for (Index i = 0; i < n; ++i) square += y[static_cast<std::size_t>(i)] * solved(i, 0);
  if (!std::isfinite(square) || square < 0) return singular_norm(h, y, progress);
  result.square = square;
  if (*result.condition * h.epsilon() > 1e-2) {
    result.message = fmt::format(
        "the condition number is about {:.1e}: only the order of magnitude of the norm of the labels is reliable",
        *result.condition);
  }
  return result;
}

LabelBound label_bound(const GramMatrix& h, std::span<const double> y, const LabelBoundOptions& options) {
  const BoundSetting setting{.lipschitz = 1, .range = 1, .delta = options.delta};
  setting.validate();
  LabelBound bound{.norm = interpolant_norm(h, y, options.progress),
                   .samples = std::ssize(y),
                   .trace = 0,
                   .delta = options.delta,
                   .a_priori = {},
                   .scaled = {},
                   .absolute = {},
                   .uniform = {}};
  for (const double own : h.diagonal()) bound.trace += own;
  if (!bound.norm.square) return bound;
  const auto n = static_cast<double>(bound.samples);
  const FunctionSize size{.samples = bound.samples, .norm = std::sqrt(*bound.norm.square), .trace = bound.trace};
  bound.a_priori = std::sqrt(2 / n) * size.norm;
  bound.scaled = fixed_norm_bound(size, 0, setting).complexity;
  bound.absolute = *bound.scaled + std::sqrt(-std::log(options.delta) / n);
  // f interpolates, so its empirical loss is 0. For ±1 labels, every s·f has the ramp loss max(0, 1 − s).
  const bool signs = std::all_of(y.begin(), y.end(), [](double value) { return std::fabs(value) == 1; });
  bound.uniform = uniform_bound(
      size, [](double scale) { return std::max(0.0, 1 - scale); }, signs, setting);
  return bound;
}

namespace {

/// Returns √(yᵀH⁻¹y/n).
double norm_per_sample(double norm_square, Index samples) {
  if (samples < 1) fail(Code::input, "there are no samples; a bound needs at least one");
  if (!(norm_square > 0) || !std::isfinite(norm_square)) {
    fail(Code::input, "the squared norm of the labels is {}; a positive number is needed", norm_square);
  }
  return std::sqrt(norm_square / static_cast<double>(samples));
}

}  // namespace

void NoisyLabels::validate() const {
  if (!(flip >= 0 && flip < 0.5)) {
    fail(Code::input, "the flip rate is {}; it must be at least 0 and below 0.5, at which labels carry no information",
         flip);
  }
}

double noisy_label_shape(const NoisyLabels& labels, double norm_square, Index samples, double lambda) {
  labels.validate();
  if (!(lambda > 0) || !std::isfinite(lambda)) fail(Code::input, "lambda is {}; it must be a positive number", lambda);
  const double norm = norm_per_sample(norm_square, samples);
  return (std::sqrt(lambda) * norm + 1 / std::sqrt(lambda)) / (1 - 2 * labels.flip);
}

double noisy_label_best_lambda(double norm_square, Index samples) { return 1 / norm_per_sample(norm_square, samples); }

double clean_error_bound(const NoisyLabels& labels, double noisy_bound) {
  labels.validate();
  if (!(noisy_bound >= 0)) fail(Code::input, "the bound on the error rate is {}; it must not be negative", noisy_bound);
  return std::max(0.0, (noisy_bound - labels.flip) / (1 - 2 * labels.flip));
}

}  // namespace widelimit
