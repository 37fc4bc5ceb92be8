#include "widelimit/machine/logistic.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/dense_gram.hpp"
#include "widelimit/machine/indefinite.hpp"
#include "widelimit/machine/iteration_progress.hpp"
#include "widelimit/machine/lapack.hpp"
#include "widelimit/machine/line_search.hpp"
#include "widelimit/machine/logistic_loss.hpp"
#include "widelimit/machine/logistic_space.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

using Vector = std::vector<double>;

/// Newton's method in one space.
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
  void end(Ending ending, std::string message);

  const LogisticLosses& losses_;
  const LogisticOptions& options_;
  LogisticSpace& space_;
  Vector c_;
  Vector star_;
  double bias_ = 0;
  Vector h_;         ///< values(c)
  Vector r_;         ///< minus the derivatives of the losses
  Vector d_;         ///< their second derivatives
  Vector rho_;       ///< pull(r) − λc
  Vector rho_star_;  ///< star(ρ)
  double gradient_at_zero_ = 0;
  IterationProgress progress_{options_.progress, options_.iterations};
  Summary summary_;
};

double LogisticNewton::dual() const {
  const Vector a = options_.bias ? losses_.balanced(r_) : r_;
  const Vector pulled = space_.pull(a);
  return losses_.entropy(a) - inner(pulled, space_.star(pulled)) / (2 * options_.lambda);
}

void LogisticNewton::end(Ending ending, std::string message) {
  summary_.ending = ending;
  summary_.message = std::move(message);
}

/// One step; false, with an ending, where there is none.
bool LogisticNewton::advance() {
  const double lambda = options_.lambda;
  LogisticMove move;
  const bool found = space_.newton({d_, rho_, rho_star_, total(r_), lambda, options_.bias, progress_.get()}, move);
  const Vector move_star = found ? space_.star(move.c) : Vector();
  const double square = found ? inner(move.c, move_star) : 0;
  if (!found || square < 0) {
    end(Ending::not_positive_definite, "the Gram matrix has a negative eigenvalue");
    return false;
  }
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
  if (t == 0) {
    end(Ending::iteration_limit,
        fmt::format("rounding leaves a relative duality gap of {:.2g}; raise λ or the tolerance", *summary_.gap));
    return false;
  }
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
    if (std::fabs(*summary_.gap) <= options_.tolerance) break;
    if (iteration == options_.iterations) {
      end(Ending::iteration_limit,
          fmt::format("{} iterations left a relative duality gap of {:.2g}; raise the limit, λ or the tolerance",
                      iteration, *summary_.gap));
      break;
    }
    if (!advance()) break;
  }
  if (const auto found = space_.condition(); found && std::isfinite(*found)) summary_.condition = *found;
  return std::move(summary_);
}

Fit as_fit(const Vector& alpha, double bias, Summary summary) {
  Fit fit;
  fit.alpha = Matrix<double>(std::ssize(alpha), 1);
  std::copy(alpha.begin(), alpha.end(), fit.alpha.data());
  fit.bias = {bias};
  fit.summary = std::move(summary);
  return fit;
}

/// α of a machine found as β: r/λ, as the minimum has it, where that is as good, else by the factor. What is reported
/// is what α gives with K itself.
Fit from_features(const DenseGram& k, const GramFactor& factor, const LogisticLosses& losses,
                  const LogisticOptions& options, const LogisticNewton& newton, Summary summary) {
  Vector alpha(losses.size());
  Vector h(losses.size());
  const auto good = [&] {
    k.multiply(alpha.data(), h.data());
    summary.primal = options.lambda / 2 * inner(alpha, h) + losses.value(h, newton.bias());
    summary.gap = relative_gap(*summary.primal, *summary.dual);
    return std::fabs(*summary.gap) <= options.tolerance;
  };
  std::transform(newton.r().begin(), newton.r().end(), alpha.begin(), [&](double r) { return r / options.lambda; });
  if (!good()) {
    factor.coefficients(newton.coordinates().data(), alpha.data());
    if (!good() && summary.converged()) {
      summary.ending = Ending::iteration_limit;
      summary.message =
          fmt::format("rounding of α leaves a relative duality gap of {:.2g}; raise λ or the tolerance", *summary.gap);
    }
  }
  return as_fit(alpha, newton.bias(), std::move(summary));
}

Fit solve_in_features(const DenseGram& k, const LogisticLosses& losses, const LogisticOptions& options) {
  const GramFactor factor(k);
  const auto space = factor_space(factor);
  LogisticNewton newton(losses, options, *space);
  Summary summary = newton.run();
  summary.method = "LogisticNewton in features, Cholesky, float64";
  summary.memory = k.memory() + space->memory();
  if (!factor.complete()) {
    summary.ending = Ending::not_positive_definite;
    summary.message = diagonal_cure(k.source()) + ", or raise λ";
  }
  return from_features(k, factor, losses, options, newton, std::move(summary));
}

/// In the coordinates that are fastest, and where rounding stops them in those that keep digits.
Fit solve(const DenseGram& k, const LogisticLosses& losses, const LogisticOptions& options) {
  {
    const auto space = gram_space(k);
    LogisticNewton newton(losses, options, *space);
    Summary summary = newton.run();
    summary.method = "LogisticNewton, Cholesky, float64";
    summary.memory = k.memory() + space->memory();
    if (summary.converged() || summary.iterations == options.iterations) {
      return as_fit(newton.coordinates(), newton.bias(), std::move(summary));
    }
  }
  return solve_in_features(k, losses, options);
}

void check_labels(std::span<const double> labels, std::span<const double> weights, Index samples) {
  if (std::ssize(labels) != samples) {
    fail(Code::input, "there are {} labels for {} samples of the Gram matrix", labels.size(), samples);
  }
  check_weights(weights, samples);
  bool seen[2]{};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 1 && labels[i] != -1) fail(Code::input, "label {} is {}; labels must be 1 or -1", i, labels[i]);
    if (weights.empty() || weights[i] > 0) seen[labels[i] > 0 ? 1 : 0] = true;
  }
  if (!seen[0] || !seen[1]) {
    fail(Code::input, "all samples{} have one label; logistic regression needs two classes",
         weights.empty() ? "" : " with a weight above 0");
  }
}

}  // namespace

void LogisticOptions::validate() const {
  if (!std::isfinite(lambda) || !(lambda > 0)) fail(Code::input, "λ = {} must be positive and finite", lambda);
  if (!std::isfinite(tolerance) || !(tolerance > 0)) {
    fail(Code::input, "the tolerance {} must be positive and finite", tolerance);
  }
  if (iterations < 1) fail(Code::input, "{} iterations are too few; allow at least one", iterations);
}

Fit fit_logistic(const AnyView& k, std::span<const double> labels, const LogisticOptions& options) {
  const auto begin = Clock::now();
  options.validate();
  const DenseGram gram(k, options.threads);
  check_labels(labels, options.weights, gram.count());
  const BlasTeam team(gram.count() < least_shared ? 1 : options.threads);
  Fit fit = solve(gram, LogisticLosses(labels, options.weights), options);
  fit.summary.seconds = seconds_since(begin);
  return fit;
}

}  // namespace widelimit
