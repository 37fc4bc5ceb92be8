#include "widelimit/machine/ridge/marginal_likelihood.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/ridge/ridge_system.hpp"
#include "widelimit/network/weight_std.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace widelimit {

namespace {

/// Condition number beyond which log det A and yᵀA⁻¹y have fewer than two accurate digits.
constexpr double largest_condition = 0.01 / std::numeric_limits<double>::epsilon();

/// Returns the leading minor for which A has no likelihood; 0 if it has one.
Index likelihood_obstacle(const Cholesky& cholesky) {
  if (cholesky.failed_minor() != 0) return cholesky.failed_minor();
  return cholesky.condition() < largest_condition ? 0 : cholesky.weakest_minor();
}

/// Columns of (K + σ²I)⁻¹ per solve.
constexpr Index inverse_strip = 256;

/// Fourth-order central difference (−f(2h) + 8f(h) − 8f(−h) + f(−2h))/12h.
struct DifferenceNode {
  double place;
  double weight;
};
constexpr std::array<DifferenceNode, 4> difference_nodes{
    {{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}}};

/// As a function of s = log w_std, a kernel entry of D weight layers is a sum of terms e^{ks}, k ≤ 2D, so its fifth
/// derivative is at most (2D)⁵ times the entry and the truncation error is (2D)⁵h⁴/30. Rounding u of entries adds
/// 3u/2h. The sum is minimal at h⁵ = 11.25u/(2D)⁵, where it is 1.2e-12 of 2D times the entry.
double difference_step(Index weight_layers) {
  constexpr double entry_rounding = 0x1p-50;
  return std::pow(11.25 * entry_rounding, 0.2) / (2.0 * static_cast<double>(std::max<Index>(weight_layers, 1)));
}

AnyMatrix one_kernel(Gram found, Kind kind) { return kind == Kind::ntk ? std::move(found.ntk) : std::move(found.nngp); }

/// Computes to += weight·K.
void accumulate(const AnyMatrix& k, double weight, Matrix<double>& to) {
  const Matrix<double>& entries = std::get<Matrix<double>>(k);
  for (Index i = 0; i < to.rows() * to.cols(); ++i) to.data()[i] += weight * entries.data()[i];
}

/// Contracts `slope` with ½(Σ αα^T − m A⁻¹) on the rows `begin` … of a strip and the columns `from` …; `inverse` holds
/// the columns of the strip.
double contracted(const Matrix<double>& slope, const Matrix<double>& alpha, const Matrix<double>& inverse, Index begin,
                  Index from) {
  const Index outputs = alpha.cols();
  double sum = 0;
  for (Index c = 0; c < slope.rows(); ++c) {
    for (Index j = 0; j < slope.cols(); ++j) {
      double weight = -static_cast<double>(outputs) * inverse(from + j, c);
      for (Index o = 0; o < outputs; ++o) weight += alpha(begin + c, o) * alpha(from + j, o);
      sum += weight * slope(c, j);
    }
  }
  return sum / 2;
}

/// Computes the gradient in strips of samples, so that no derivative of K is stored.
class LikelihoodGradient {
 public:
  LikelihoodGradient(const Network& network, const SampleView& x, const MarginalLikelihoodOptions& options,
                     const Engine& engine)
      : network_(network),
        x_(x),
        how_{.kind = options.kind, .precision = Precision::f64, .progress = options.progress},
        engine_(engine),
        step_(difference_step(count_weight_layers(network))) {}

  [[nodiscard]] std::array<double, 3> of(const EngineMatrix& factor, const Matrix<double>& alpha, double noise) const {
    const Index n = x_.count();
    std::array<double, 3> gradient{};
    double trace = 0;
    for (Index begin = 0; begin < n; begin += inverse_strip) {
      const Index size = std::min(inverse_strip, n - begin);
      Matrix<double> inverse(n, size);
      for (Index c = 0; c < size; ++c) inverse(begin + c, c) = 1;
      engine_.algebra().solve_factored(factor, inverse.view());
      for (Index c = 0; c < size; ++c) trace += inverse(begin + c, c);
      gradient[0] += strip(begin, size, {step_, 0}, alpha, inverse);
      if (has_biases(network_)) gradient[1] += strip(begin, size, {0, step_}, alpha, inverse);
    }
    double squares = 0;
    for (Index i = 0; i < alpha.rows() * alpha.cols(); ++i) squares += alpha.data()[i] * alpha.data()[i];
    gradient[2] = noise * (squares - static_cast<double>(alpha.cols()) * trace) / 2;
    return gradient;
  }

 private:
  /// Contribution of the pairs of a strip with itself and with all later samples, for a step in one log-parameter.
  [[nodiscard]] double strip(Index begin, Index size, const WeightStd& step, const Matrix<double>& alpha,
                             const Matrix<double>& inverse) const {
    const Index end = begin + size;
    Matrix<double> own(size, size);
    Matrix<double> later(size, x_.count() - end);
    for (const auto& [place, weight] : difference_nodes) {
      const Network shifted = with_scaled_std(network_, {std::exp(place * step.w_std), std::exp(place * step.b_std)});
      accumulate(one_kernel(gram(shifted, x_.part(begin, size), how_, engine_), how_.kind), weight / step_, own);
      if (later.cols() == 0) continue;
      accumulate(one_kernel(gram(shifted, x_.part(begin, size), x_.part(end, later.cols()), how_, engine_), how_.kind),
                 weight / step_, later);
    }
    return contracted(own, alpha, inverse, begin, begin) + 2 * contracted(later, alpha, inverse, begin, end);
  }

  const Network& network_;
  const SampleView& x_;
  GramOptions how_;
  const Engine& engine_;
  double step_;
};

}  // namespace

void MarginalLikelihoodOptions::validate() const {
  if (kind == Kind::both) fail(Code::usage, "a Gaussian process has one covariance; choose nngp or ntk");
  if (!std::isfinite(noise) || noise < 0) {
    fail(Code::input, "the noise variance is {}; it must be finite and not negative", noise);
  }
}

MarginalLikelihood marginal_likelihood(const Network& network, const SampleView& x, MatrixView<const double> targets,
                                       const MarginalLikelihoodOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  require_trained_layer(network, options.kind);
  check_targets(targets, x.count());
  check_squares(targets);
  const auto n = static_cast<double>(x.count());
  require_matrix_memory(engine, 2 * sizeof(double) * n * n, options.memory, "a Gram matrix and its factor",
                        "use fewer samples, or allow more memory", {Remedy::fewer_samples, Remedy::more_memory});
  const DeviceMemoryLimit limit(engine, options.memory);
  MarginalLikelihood result;
  Summary& summary = result.summary;
  if (options.diagnose && exactness(network) == Exactness::quadrature) {
    result.quadrature_error = diagonal(network, x, engine).quadrature_error;
  }
  const GramMatrix k = gram_matrix(
      network, x, {.kind = options.kind, .precision = Precision::f64, .progress = options.progress}, engine);
  (void)k.check();
  Cholesky cholesky({k, {}, options.noise}, FactorPrecision::f64, options.progress);
  summary.method = cholesky.method();
  summary.memory = cholesky.bytes();
  Matrix<double> alpha = right_hand_sides(targets, {}, false);
  const Index minor = likelihood_obstacle(cholesky);
  if (minor == 0) {
    summary.iterations = cholesky.solve(alpha.view());
    summary.condition = cholesky.condition();
    double fit = 0;
    for (Index i = 0; i < targets.rows; ++i) {
      for (Index j = 0; j < targets.cols; ++j) fit += targets(i, j) * alpha(i, j);
    }
    const double each = cholesky.log_determinant() + n * std::log(2 * std::numbers::pi);
    result.value = -0.5 * (fit + static_cast<double>(targets.cols) * each);
  }
  if (minor != 0) {
    summary.ending = Ending::not_positive_definite;
    summary.message = options.diagnose ? fmt::format("{}, i.e. a noise variance of half that value",
                                                     diagnose(k, minor, options.progress).message)
                                       : fmt::format("leading minor {} is not positive beyond rounding", minor);
  } else if (options.gradient && std::isfinite(result.value)) {
    result.gradient = LikelihoodGradient(network, x, options, engine).of(cholesky.factor(), alpha, options.noise);
  }
  if (!std::isfinite(result.value) ||
      !std::ranges::all_of(result.gradient, [](double d) { return std::isfinite(d); })) {
    result.value = 0;
    result.gradient = {};
    summary.ending = Ending::diverged;
    summary.message = likelihood_overflow;
  }
  summary.seconds = seconds_since(start);
  return result;
}

}  // namespace widelimit
