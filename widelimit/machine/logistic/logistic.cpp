#include "widelimit/machine/logistic/logistic.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/iteration_progress.hpp"
#include "widelimit/machine/logistic/line_search.hpp"
#include "widelimit/machine/logistic/logistic_loss.hpp"
#include "widelimit/machine/logistic/logistic_space.hpp"
#include "widelimit/machine/logistic/loss_proof.hpp"
#include "widelimit/machine/logistic/newton_fit.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

using Vector = std::vector<double>;

/// Each refinement gains some digits, until the precision of α is reached.
constexpr int most_refinements = 4;

/// Newton's method in one space; its summary does not account for rounding.
class LogisticNewton {
 public:
  LogisticNewton(const LogisticLosses& losses, const LogisticOptions& options, LogisticSpace& space)
      : losses_(losses),
        options_(options),
        space_(space),
        c_(static_cast<std::size_t>(space.dimension())),
        star_(c_.size()),
        h_(losses.size()),
        r_(losses.size()),
        d_(losses.size()) {}

  [[nodiscard]] Summary run();

  [[nodiscard]] const Vector& coordinates() const { return c_; }
  [[nodiscard]] double bias() const { return bias_; }
  [[nodiscard]] const Vector& r() const { return r_; }

 private:
  void evaluate();
  [[nodiscard]] double dual() const;
  [[nodiscard]] bool advance();

  const LogisticLosses& losses_;
  const LogisticOptions& options_;
  LogisticSpace& space_;
  Vector c_;
  Vector star_;
  double bias_ = 0;
  Vector h_;         ///< values(c)
  Vector r_;         ///< negative derivatives of the losses
  Vector d_;         ///< their second derivatives
  Vector rho_;       ///< pull(r) − λc
  Vector rho_star_;  ///< star(ρ)
  double gradient_at_zero_ = 0;
  IterationProgress progress_{options_.progress, options_.max_iterations};
  Summary summary_;
};

double LogisticNewton::dual() const {
  const Vector a = options_.bias ? losses_.balanced(r_) : r_;
  const Vector pulled = space_.pull(a);
  return losses_.entropy(a) - inner(pulled, space_.star(pulled)) / (2 * options_.lambda);
}

/// Performs one step; returns false if there is none.
bool LogisticNewton::advance() {
  const double lambda = options_.lambda;
  LogisticMove move;
  const bool found = space_.newton({d_, rho_, rho_star_, total(r_), lambda, options_.bias, progress_.get()}, move);
  const Vector move_star = found ? space_.star(move.c) : Vector();
  const double square = found ? inner(move.c, move_star) : 0;
  if (!found || square < 0) return false;
  const Vector change = space_.values(move.c, move_star);
  const double mixed = inner(c_, move_star);
  const double whole = inner(c_, star_);
  const double t = step_length([&](double trial) {
    Slice at = losses_.slice(h_, bias_, change, move.bias, trial);
    at.value += lambda / 2 * (whole + trial * (2 * mixed + trial * square));
    at.slope += lambda * (mixed + trial * square);
    at.curvature += lambda * square;
    return at;
  });
  if (t == 0) return false;  // the remaining decrease is below rounding
  for (std::size_t i = 0; i < c_.size(); ++i) c_[i] += t * move.c[i];
  bias_ += t * move.bias;
  star_ = space_.star(c_);
  h_ = space_.values(c_, star_);
  return true;
}

void LogisticNewton::evaluate() {
  losses_.derivatives(h_, bias_, r_, d_);
  rho_ = space_.pull(r_);
  for (std::size_t i = 0; i < c_.size(); ++i) rho_[i] -= options_.lambda * c_[i];
  rho_star_ = space_.star(rho_);
  const double offset = options_.bias ? total(r_) : 0.0;
  const double gradient = std::sqrt(std::max(0.0, inner(rho_, rho_star_)) + offset * offset);
  if (summary_.iterations == 0) gradient_at_zero_ = gradient;
  summary_.gradient = gradient_at_zero_ > 0 ? gradient / gradient_at_zero_ : 0;
  summary_.primal = options_.lambda / 2 * inner(c_, star_) + losses_.value(h_, bias_);
  summary_.dual = dual();
  summary_.gap = relative_gap(*summary_.primal, *summary_.dual);
}

Summary LogisticNewton::run() {
  for (Index& iteration = summary_.iterations;; ++iteration) {
    progress_.at(iteration);
    evaluate();
    if (std::fabs(*summary_.gap) <= options_.tolerance / 2) break;  // half, since the proof adds rounding
    if (iteration == options_.max_iterations || !advance()) break;
  }
  if (const auto found = space_.condition(); found && std::isfinite(*found)) summary_.condition = *found;
  return std::move(summary_);
}

Fit as_fit(const Vector& alpha, double bias, const Summary& summary) {
  Fit fit;
  fit.alpha = Matrix<double>(std::ssize(alpha), 1);
  std::copy(alpha.begin(), alpha.end(), fit.alpha.data());
  fit.bias = {bias};
  fit.summary = summary;
  return fit;
}

/// One Newton step in α, with outputs computed from K itself: λΔα + D(KΔα + Δb) = r − λα, where KΔα is taken from the
/// step in features. It reduces the error caused by K − LLᵀ by a factor ‖K − LLᵀ‖/λ.
void refine(const ProofSetting& setting, const LogisticLosses& losses, LogisticSpace& space, Vector& alpha,
            double& bias) {
  const Index n = std::ssize(alpha);
  Vector h(alpha.size());
  setting.k.multiply_precisely({alpha.data(), n, 1, 1}, {h.data(), n, 1, 1}, setting.progress);
  Vector r(alpha.size());
  Vector d(alpha.size());
  losses.derivatives(h, bias, r, d);
  Vector residual(alpha.size());
  for (std::size_t i = 0; i < alpha.size(); ++i) residual[i] = r[i] - setting.lambda * alpha[i];
  const Vector rho = space.pull(residual);
  const Vector rho_star = space.star(rho);
  LogisticMove move;
  if (!space.newton({d, rho, rho_star, total(r), setting.lambda, setting.bias, setting.progress}, move)) return;
  const Vector change = space.values(move.c, space.star(move.c));
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    alpha[i] += (residual[i] - d[i] * (change[i] + move.bias)) / setting.lambda;
  }
  bias += move.bias;
}

/// Newton's method in features, which keep digits that α loses. α is then r/λ, as at the minimum, or computed from the
/// factor, and is refined. Returns false if K is not positive semi-definite.
bool solve_in_features(const GramMatrix& k, const LogisticLosses& losses, const LogisticOptions& options,
                       const ProofSetting& setting, BestProved& proved) {
  const GramFactor factor(k, options.progress);
  if (!factor.complete()) return false;
  const auto space = factor_space(factor);
  LogisticNewton newton(losses, options, *space);
  Summary summary = newton.run();
  summary.method = "Newton in features, Cholesky, float64";
  summary.memory = space->memory();
  Vector alpha(losses.size());
  std::transform(newton.r().begin(), newton.r().end(), alpha.begin(), [&](double r) { return r / options.lambda; });
  double bias = newton.bias();
  if (proved.offer(as_fit(alpha, bias, summary))) return true;
  factor.coefficients(newton.coordinates().data(), alpha.data());
  if (proved.offer(as_fit(alpha, bias, summary))) return true;
  for (int step = 0; step < most_refinements; ++step) {
    refine(setting, losses, *space, alpha, bias);
    if (proved.offer(as_fit(alpha, bias, summary))) break;
  }
  return true;
}

/// Solves in α, which is fastest, and if rounding prevents convergence, in features.
Fit solve(const GramMatrix& k, const LogisticLosses& losses, const LogisticOptions& options,
          const ProofSetting& setting) {
  BestProved proved(setting);
  bool enough = false;
  {
    const auto space = gram_space(k);
    LogisticNewton newton(losses, options, *space);
    Summary summary = newton.run();
    summary.method = "Newton, Cholesky, float64";
    summary.memory = space->memory();
    enough = proved.offer(as_fit(newton.coordinates(), newton.bias(), summary));
  }
  if (!enough && !solve_in_features(k, losses, options, setting, proved)) {
    Fit fit = zero_fit(k.samples(), 1);
    fit.summary.ending = Ending::not_positive_definite;
    return fit;
  }
  return std::move(proved).take(k.samples(), 1, options.max_iterations);
}

void check_labels(std::span<const double> labels, std::span<const double> weights, Index samples) {
  if (std::ssize(labels) != samples) {
    fail(Code::input, "there are {} labels for {} samples of the Gram matrix", labels.size(), samples);
  }
  check_weights(weights, samples);
  bool present[2]{};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 1 && labels[i] != -1) fail(Code::input, "label {} is {}; labels must be 1 or -1", i, labels[i]);
    if (weights.empty() || weights[i] > 0) present[labels[i] > 0 ? 1 : 0] = true;
  }
  if (!present[0] || !present[1]) {
    fail(Code::input, "all samples{} have the same label; logistic regression needs two classes",
         weights.empty() ? "" : " with a weight above 0");
  }
}

}  // namespace

void LogisticOptions::validate() const {
  if (!std::isfinite(lambda) || !(lambda > 0)) fail(Code::input, "λ = {} must be positive and finite", lambda);
  if (!std::isfinite(tolerance) || !(tolerance > 0)) {
    fail(Code::input, "the tolerance {} must be positive and finite", tolerance);
  }
  if (max_iterations < 1) fail(Code::input, "max_iterations is {}; it must be at least 1", max_iterations);
}

Fit fit_logistic(const GramMatrix& k, std::span<const double> labels, const LogisticOptions& options) {
  return newton_fit(
      k, labels, 1, options, check_labels,
      [](const GramMatrix& gram, std::span<const double> y, const LogisticOptions& own,
         const ProductRounding& rounding) {
        const LogisticLosses losses(y, own.weights);
        return solve(gram, losses, own, {gram, rounding, losses, own.lambda, own.bias, own.tolerance, own.progress});
      });
}

}  // namespace widelimit
