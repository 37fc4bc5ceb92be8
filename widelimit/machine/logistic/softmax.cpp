#include "widelimit/machine/logistic/softmax.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/iteration_progress.hpp"
#include "widelimit/machine/logistic/loss_proof.hpp"
#include "widelimit/machine/logistic/newton_fit.hpp"
#include "widelimit/machine/logistic/softmax_newton.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index most_inner_iterations = 1000;
/// Each refinement gains some digits, until the precision of α is reached.
constexpr int most_refinements = 4;

double norm(const Matrix<double>& a) {
  double sum = 0;
  for (Index i = 0; i < a.rows() * a.cols(); ++i) sum += a.data()[i] * a.data()[i];
  return std::sqrt(sum);
}

class SoftmaxNewton {
 public:
  SoftmaxNewton(const SoftmaxLosses& losses, const SoftmaxFeatures& features, const LogisticOptions& options)
      : losses_(losses),
        features_(features),
        options_(options),
        c_(features.count(), losses.classes()),
        h_(losses.samples(), losses.classes()),
        pi_(losses.samples(), losses.classes()),
        r_(losses.samples(), losses.classes()) {}

  [[nodiscard]] Summary run();
  [[nodiscard]] const Matrix<double>& coordinates() const { return c_; }
  [[nodiscard]] const Matrix<double>& r() const { return r_; }

 private:
  void evaluate();
  [[nodiscard]] double dual() const;
  [[nodiscard]] bool advance();

  const SoftmaxLosses& losses_;
  const SoftmaxFeatures& features_;
  const LogisticOptions& options_;
  Matrix<double> c_;
  Matrix<double> h_;
  Matrix<double> pi_;
  Matrix<double> r_;
  Matrix<double> rho_;  ///< negative gradient
  double gradient_at_zero_ = 0;
  Index inner_ = 0;
  bool factored_ = false;  ///< use the factorised preconditioner from now on
  IterationProgress progress_{options_.progress, options_.max_iterations};
  Summary summary_;
};

double SoftmaxNewton::dual() const {
  Matrix<double> pi = pi_.copy();
  Matrix<double> r = r_.copy();
  if (features_.has_bias()) losses_.balance(pi, r);
  const Matrix<double> pulled = features_.pull(r);
  return losses_.entropy(pi) - features_.product(pulled, pulled) / (2 * options_.lambda);
}

void SoftmaxNewton::evaluate() {
  losses_.derivatives(h_, pi_, r_);
  rho_ = features_.pull(r_);
  for (Index j = 0; j < rho_.rows(); ++j) {
    for (Index c = 0; c < rho_.cols(); ++c) rho_(j, c) -= features_.penalty(j, options_.lambda) * c_(j, c);
  }
  const double gradient = norm(rho_);
  if (summary_.iterations == 0) gradient_at_zero_ = gradient;
  summary_.gradient = gradient_at_zero_ > 0 ? gradient / gradient_at_zero_ : 0;
  summary_.primal = options_.lambda / 2 * features_.product(c_, c_) + losses_.value(h_);
  summary_.dual = dual();
  summary_.gap = relative_gap(*summary_.primal, *summary_.dual);
}

/// Performs one step; returns false if there is none.
bool SoftmaxNewton::advance() {
  // Increasing the accuracy as the gradient decreases keeps convergence superlinear (Nocedal & Wright 2006, Thm 7.2).
  const double accuracy = std::min(0.1, std::sqrt(*summary_.gradient) / 10);
  const SoftmaxStep step = softmax_step(features_, losses_, pi_, rho_,
                                        {.lambda = options_.lambda,
                                         .accuracy = accuracy,
                                         .max_iterations = most_inner_iterations,
                                         .factored = factored_,
                                         .progress = progress_.get()});
  inner_ += step.iterations;
  factored_ =
      factored_ || step.iterations > SoftmaxPreconditioner::iterations_per_factorisation(features_, losses_.classes());
  if (std::isfinite(step.condition)) summary_.condition = step.condition;
  const Matrix<double> change = features_.values(step.move);
  const double lambda = options_.lambda;
  const double whole = features_.product(c_, c_);
  const double mixed = features_.product(c_, step.move);
  const double square = features_.product(step.move, step.move);
  const double t = step_length([&](double trial) {
    Slice at = losses_.slice(h_, change, trial);
    at.value += lambda / 2 * (whole + trial * (2 * mixed + trial * square));
    at.slope += lambda * (mixed + trial * square);
    at.curvature += lambda * square;
    return at;
  });
  if (t == 0) return false;  // the remaining decrease is below rounding
  for (Index i = 0; i < c_.rows() * c_.cols(); ++i) c_.data()[i] += t * step.move.data()[i];
  h_ = features_.values(c_);
  return true;
}

Summary SoftmaxNewton::run() {
  for (Index& iteration = summary_.iterations;; ++iteration) {
    progress_.at(iteration);
    evaluate();
    if (std::fabs(*summary_.gap) <= options_.tolerance / 2) break;  // half, since the proof adds rounding
    if (iteration == options_.max_iterations || !advance()) break;
  }
  summary_.method = inner_ > 0 ? fmt::format("Newton, {} steps of conjugate gradients, float64", inner_)
                               : std::string("Newton, Cholesky, float64");
  return std::move(summary_);
}

/// Returns α = r/λ, as at the minimum, or α from the factor.
Fit as_fit(const SoftmaxFeatures& features, double lambda, const SoftmaxNewton& newton, const Summary& summary,
           bool by_factor) {
  const Index classes = newton.r().cols();
  Fit fit = zero_fit(newton.r().rows(), classes);
  fit.summary = summary;
  for (Index c = 0; features.has_bias() && c < classes; ++c) {
    fit.bias[usize(c)] = features.kappa() * newton.coordinates()(features.factor().rank(), c);
  }
  if (by_factor) {
    features.factor().coefficients(newton.coordinates().data(), fit.alpha.data(), classes);
  } else {
    std::transform(newton.r().data(), newton.r().data() + newton.r().rows() * classes, fit.alpha.data(),
                   [&](double r) { return r / lambda; });
  }
  return fit;
}

/// One Newton step in α, with outputs computed from K itself: λΔα + W(KΔα + Δb) = r − λα, where KΔα is taken from the
/// step in features. It reduces the error caused by K − LLᵀ by a factor ‖K − LLᵀ‖/λ.
void refine(const ProofSetting& setting, const SoftmaxLosses& losses, const SoftmaxFeatures& features, Fit& fit) {
  const Index n = fit.alpha.rows();
  const Index classes = fit.alpha.cols();
  Matrix<double> h(n, classes, Content::unset);
  setting.k.multiply_precisely(fit.alpha.view(), h.view(), setting.progress);
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < classes; ++c) h(i, c) += fit.bias[usize(c)];
  }
  Matrix<double> pi(n, classes);
  Matrix<double> r(n, classes);
  losses.derivatives(h, pi, r);
  Matrix<double> residual(n, classes, Content::unset);
  for (Index i = 0; i < n * classes; ++i) residual.data()[i] = r.data()[i] - setting.lambda * fit.alpha.data()[i];
  Matrix<double> rho = features.pull(residual);
  for (Index c = 0; features.has_bias() && c < classes; ++c) {
    double sum = 0;  // the bias is not regularised
    for (Index i = 0; i < n; ++i) sum += r(i, c);
    rho(features.factor().rank(), c) = features.kappa() * sum;
  }
  const SoftmaxStep step = softmax_step(features, losses, pi, rho,
                                        {.lambda = setting.lambda, .accuracy = 1e-8, .progress = setting.progress});
  Matrix<double> change = features.values(step.move);
  losses.curve(pi, change);
  for (Index i = 0; i < n * classes; ++i) {
    fit.alpha.data()[i] += (residual.data()[i] - change.data()[i]) / setting.lambda;
  }
  for (Index c = 0; features.has_bias() && c < classes; ++c) {
    fit.bias[usize(c)] += features.kappa() * step.move(features.factor().rank(), c);
  }
}

void check_labels(std::span<const Index> labels, Index classes, std::span<const double> weights, Index samples) {
  if (classes < 2) fail(Code::input, "softmax needs at least two classes; there are {}", classes);
  if (std::ssize(labels) != samples) {
    fail(Code::input, "there are {} labels for {} samples of the Gram matrix", labels.size(), samples);
  }
  if (classes > samples) fail(Code::input, "there are {} classes, but only {} samples", classes, samples);
  check_weights(weights, samples);
  std::vector<char> present(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail(Code::input, "label {} is {}; labels must be 0 to {}", i, labels[i], classes - 1);
    }
    if (weights.empty() || weights[i] > 0) present[static_cast<std::size_t>(labels[i])] = 1;
  }
  const auto missing = std::find(present.begin(), present.end(), 0);
  if (missing != present.end()) {
    fail(Code::input, "one of {} classes has no sample{}; leave it out", classes,
         weights.empty() ? "" : " with a weight above 0");
  }
}

Fit solve(const GramMatrix& k, const SoftmaxLosses& losses, const LogisticOptions& options,
          const ProofSetting& setting) {
  const GramFactor factor(k, options.progress);
  if (!factor.complete()) {
    Fit fit = zero_fit(k.samples(), losses.classes());
    fit.summary.ending = Ending::not_positive_definite;
    return fit;
  }
  const double length = std::sqrt(std::max(0.0, k.mean_diagonal()));
  const SoftmaxFeatures features(factor, !options.bias ? 0.0 : length > 0 ? length : 1.0);
  SoftmaxNewton newton(losses, features, options);
  Summary summary = newton.run();
  const Index unknowns = features.count() * losses.classes();
  const Index direct = unknowns <= direct_size ? unknowns * unknowns : 0;
  summary.memory = sizeof(double) * static_cast<std::size_t>(k.samples() * k.samples() + direct);
  BestProved proved(setting);
  bool enough = proved.offer(as_fit(features, options.lambda, newton, summary, false)) ||
                proved.offer(as_fit(features, options.lambda, newton, summary, true));
  Fit fit = as_fit(features, options.lambda, newton, summary, true);
  for (int step = 0; step < most_refinements && !enough; ++step) {
    refine(setting, losses, features, fit);
    enough = proved.offer({fit.alpha.copy(), fit.bias, summary});
  }
  return std::move(proved).take(k.samples(), losses.classes(), options.max_iterations);
}

}  // namespace

Fit fit_softmax(const GramMatrix& k, std::span<const Index> labels, Index classes, const LogisticOptions& options) {
  return newton_fit(
      k, labels, classes, options,
      [&](std::span<const Index> y, std::span<const double> weights, Index samples) {
        check_labels(y, classes, weights, samples);
      },
      [&](const GramMatrix& gram, std::span<const Index> y, const LogisticOptions& own,
          const ProductRounding& rounding) {
        const SoftmaxLosses losses(y, classes, own.weights);
        return solve(gram, losses, own, {gram, rounding, losses, own.lambda, own.bias, own.tolerance, own.progress});
      });
}

}  // namespace widelimit
