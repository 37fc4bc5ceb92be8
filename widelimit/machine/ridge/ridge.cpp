#include "widelimit/machine/ridge/ridge.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/ridge/ridge_proof.hpp"
#include "widelimit/machine/ridge/ridge_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// K + λ/2·W⁻¹ needs a λ as many times larger as the largest weight.
std::string cure(const GramMatrix& k, Index minor, std::span<const double> weights, Progress* progress) {
  const Indefinite found = diagnose(k, minor, progress);
  const double heaviest = weights.empty() ? 1.0 : *std::max_element(weights.begin(), weights.end());
  if (heaviest <= 1) return found.message;
  return fmt::format("{} for weights of 1, {:.2g} for these", found.message, heaviest * found.lambda);
}

void remark_on_condition(Summary& summary) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  if (*summary.condition * epsilon < 1e-2) return;
  summary.message = fmt::format(
      "the condition number is about {:.1e}: coefficients have no digit left; predictions may still be good, a larger "
      "lambda makes both sure",
      *summary.condition);
}

}  // namespace

void RidgeOptions::validate() const {
  if (!std::isfinite(lambda) || lambda < 0)
    fail(Code::input, "lambda is {}; it must be finite and not negative", lambda);
}

Fit fit_ridge(const GramMatrix& k, MatrixView<const double> targets, const RidgeOptions& options) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  (void)k.check();
  const Index n = k.samples();
  check_targets(targets, n);
  check_weights(options.weights, n);

  Fit fit = zero_fit(n, targets.cols);
  const std::vector<double> scale = scale_of_weights(options.weights, options.lambda);
  const RidgeMatrix a{k, scale, options.lambda / 2};
  Cholesky cholesky(a, options.factor, options.progress);
  if (cholesky.failed_minor() == 0) {
    Matrix<double> solved = right_hand_sides(targets, scale, options.bias);
    fit.summary.iterations = cholesky.solve(solved.view());
    if (cholesky.failed_minor() == 0) set_coefficients(solved, scale, options.bias, fit);
  }
  fit.summary.method = cholesky.method();
  fit.summary.memory = cholesky.bytes() + 3 * sizeof(double) * static_cast<std::size_t>(n * (targets.cols + 1));
  if (cholesky.failed_minor() != 0) {
    fit.summary.ending = Ending::not_positive_definite;
    fit.summary.message = cure(k, cholesky.failed_minor(), options.weights, options.progress);
  } else if (!all_finite(fit)) {
    std::fill_n(fit.alpha.data(), n * targets.cols, 0.0);
    std::fill(fit.bias.begin(), fit.bias.end(), 0.0);
    fit.summary.ending = Ending::not_positive_definite;
    fit.summary.message = "the coefficients are beyond the range of float64; scale the kernel or give a larger lambda";
  } else {
    fit.summary.condition = cholesky.condition();
    remark_on_condition(fit.summary);
    prove_ridge(k, {targets, options.lambda, options.bias, options.weights}, fit, options.progress);
  }
  fit.summary.seconds = seconds_since(start);
  return fit;
}

Fit fit_regression(const GramMatrix& k, MatrixView<const double> targets, RidgeOptions options) {
  options.lambda = 0;
  return fit_ridge(k, targets, options);
}

}  // namespace widelimit
