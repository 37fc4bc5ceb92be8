#include "widelimit/machine/softmax.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/indefinite.hpp"
#include "widelimit/machine/iteration_progress.hpp"
#include "widelimit/machine/lapack.hpp"
#include "widelimit/machine/softmax_preconditioner.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index most_inner_iterations = 1000;

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
  Matrix<double> rho_;  ///< minus the gradient
  double gradient_at_zero_ = 0;
  Index inner_ = 0;
  bool factored_ = false;  ///< the diagonal was not enough before
  IterationProgress progress_{options_.progress, options_.iterations};
  Summary summary_;
};

double SoftmaxNewton::dual() const {
  Matrix<double> pi(pi_.rows(), pi_.cols(), Content::unset);
  Matrix<double> r(r_.rows(), r_.cols(), Content::unset);
  std::copy_n(pi_.data(), pi.rows() * pi.cols(), pi.data());
  std::copy_n(r_.data(), r.rows() * r.cols(), r.data());
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

/// One step; false, with an ending, where there is none.
bool SoftmaxNewton::advance() {
  // Accuracy that grows as the gradient falls keeps convergence superlinear (Nocedal & Wright 2006, Thm 7.2).
  const double accuracy = std::min(0.1, std::sqrt(*summary_.gradient) / 10);
  const SoftmaxStep step =
      softmax_step(features_, losses_, pi_, rho_, options_.lambda, accuracy, most_inner_iterations, progress_.get());
  inner_ += step.iterations;
  factored_ = factored_ || step.iterations > SoftmaxPreconditioner::iterations_worth(features_, losses_.classes());
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
  if (t == 0) {
    summary_.ending = Ending::iteration_limit;
    summary_.message =
        fmt::format("rounding leaves a relative duality gap of {:.2g}; raise λ or the tolerance", *summary_.gap);
    return false;
  }
  for (Index i = 0; i < c_.rows() * c_.cols(); ++i) c_.data()[i] += t * step.move.data()[i];
  h_ = features_.values(c_);
  return true;
}

Summary SoftmaxNewton::run() {
  for (Index& iteration = summary_.iterations;; ++iteration) {
    progress_.at(iteration);
    evaluate();
    if (std::fabs(*summary_.gap) <= options_.tolerance) break;
    if (iteration == options_.iterations) {
      summary_.ending = Ending::iteration_limit;
      summary_.message =
          fmt::format("{} iterations left a relative duality gap of {:.2g}; raise the limit, λ or the tolerance",
                      iteration, *summary_.gap);
      break;
    }
    if (!advance()) break;
  }
  summary_.method = inner_ > 0 ? fmt::format("SoftmaxNewton, {} steps of conjugate gradients, float64", inner_)
                               : std::string("SoftmaxNewton, Cholesky, float64");
  return std::move(summary_);
}

/// α: r/λ, as the minimum has it, where that is as good as what Newton's method found, else by the factor. What is
/// reported is what α gives with K itself.
Fit as_fit(const DenseGram& k, const SoftmaxFeatures& features, const SoftmaxLosses& losses,
           const LogisticOptions& options, const SoftmaxNewton& newton, Summary summary) {
  Fit fit;
  const Index classes = losses.classes();
  fit.alpha = Matrix<double>(k.count(), classes, Content::unset);
  fit.bias.assign(static_cast<std::size_t>(classes), 0.0);
  for (Index c = 0; features.has_bias() && c < classes; ++c) {
    fit.bias[static_cast<std::size_t>(c)] = features.kappa() * newton.coordinates()(features.factor().rank(), c);
  }
  Matrix<double> h(k.count(), classes, Content::unset);
  const auto good = [&] {
    k.multiply(fit.alpha.data(), h.data(), classes);
    double square = 0;
    for (Index i = 0; i < h.rows() * classes; ++i) square += fit.alpha.data()[i] * h.data()[i];
    for (Index i = 0; i < h.rows(); ++i) {
      for (Index c = 0; c < classes; ++c) h(i, c) += fit.bias[static_cast<std::size_t>(c)];
    }
    summary.primal = options.lambda / 2 * square + losses.value(h);
    summary.gap = relative_gap(*summary.primal, *summary.dual);
    return std::fabs(*summary.gap) <= options.tolerance;
  };
  std::transform(newton.r().data(), newton.r().data() + h.rows() * classes, fit.alpha.data(),
                 [&](double r) { return r / options.lambda; });
  if (!good()) {
    features.factor().coefficients(newton.coordinates().data(), fit.alpha.data(), classes);
    if (!good() && summary.converged()) {
      summary.ending = Ending::iteration_limit;
      summary.message =
          fmt::format("rounding of α leaves a relative duality gap of {:.2g}; raise λ or the tolerance", *summary.gap);
    }
  }
  fit.summary = std::move(summary);
  return fit;
}

void check_labels(std::span<const Index> labels, Index classes, std::span<const double> weights, Index samples) {
  if (classes < 2) fail(Code::input, "softmax needs at least two classes; there are {}", classes);
  if (std::ssize(labels) != samples) {
    fail(Code::input, "there are {} labels for {} samples of the Gram matrix", labels.size(), samples);
  }
  if (classes > samples) fail(Code::input, "{} classes are more than the {} samples", classes, samples);
  check_weights(weights, samples);
  std::vector<char> seen(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail(Code::input, "label {} is {}; labels must be 0 to {}", i, labels[i], classes - 1);
    }
    if (weights.empty() || weights[i] > 0) seen[static_cast<std::size_t>(labels[i])] = 1;
  }
  const auto missing = std::find(seen.begin(), seen.end(), 0);
  if (missing != seen.end()) {
    fail(Code::input, "class {} has no sample{}; leave it out", missing - seen.begin(),
         weights.empty() ? "" : " with a weight above 0");
  }
}

Fit solve(const DenseGram& k, const SoftmaxLosses& losses, const LogisticOptions& options) {
  const GramFactor factor(k);
  const double length = std::sqrt(std::max(0.0, k.mean_diagonal()));
  const SoftmaxFeatures features(factor, !options.bias ? 0.0 : length > 0 ? length : 1.0);
  SoftmaxNewton newton(losses, features, options);
  Summary summary = newton.run();
  const Index unknowns = features.count() * losses.classes();
  const Index direct = unknowns <= direct_size ? unknowns * unknowns : 0;
  summary.memory = k.memory() + sizeof(double) * static_cast<std::size_t>(k.count() * k.count() + direct);
  if (!factor.complete()) {
    summary.ending = Ending::not_positive_definite;
    summary.message = diagonal_cure(k.source());
  }
  return as_fit(k, features, losses, options, newton, std::move(summary));
}

}  // namespace

Fit fit_softmax(const AnyView& k, std::span<const Index> labels, Index classes, const LogisticOptions& options) {
  const auto begin = Clock::now();
  options.validate();
  const DenseGram gram(k, options.threads);
  check_labels(labels, classes, options.weights, gram.count());
  const BlasTeam team(gram.count() < least_shared ? 1 : options.threads);
  Fit fit = solve(gram, SoftmaxLosses(labels, classes, options.weights), options);
  fit.summary.seconds = seconds_since(begin);
  return fit;
}

}  // namespace widelimit
