#include "widelimit/analysis/dynamics/ensemble.hpp"

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"
#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace widelimit {

namespace {

/// Returns K(test, train)ᵀ in float64. Throws Error{input} if the size does not match or an entry is not finite.
Matrix<double> test_columns(const AnyView& test_by_train, Index tests, Index samples, std::string_view name) {
  return std::visit(
      [&](const auto& k) {
        if (k.rows != tests || k.cols != samples) {
          fail(Code::input, "{}(test, train) is {} by {}; it must be {} by {}", name, k.rows, k.cols, tests, samples);
        }
        Matrix<double> columns(samples, tests, Content::unset);
        for (Index t = 0; t < tests; ++t) {
          for (Index i = 0; i < samples; ++i) {
            columns(i, t) = static_cast<double>(k(t, i));
            if (!std::isfinite(columns(i, t)))
              fail(Code::input, "entry ({}, {}) of {}(test, train) is {}", t, i, name, k(t, i));
          }
        }
        return columns;
      },
      test_by_train);
}

void check_prior_variance(const EnsembleKernels& kernels, bool covariance) {
  for (std::size_t t = 0; t < kernels.test_variance.size(); ++t) {
    const double variance = kernels.test_variance[t];
    if (!std::isfinite(variance) || variance < 0) {
      fail(Code::input, "K(x, x) of test point {} is {}; it must be finite and not negative", t, variance);
    }
  }
  if (!covariance) return;
  if (!kernels.test_by_test) fail(Code::usage, "a covariance needs K(test, test)");
  const GramMatrix prior(*kernels.test_by_test, kernels.prior.engine());
  if (prior.samples() != std::ssize(kernels.test_variance)) {
    fail(Code::input, "K(test, test) has {} rows for {} test points", prior.samples(), kernels.test_variance.size());
  }
  (void)prior.check();
}

/// Computes mean and covariance of an ensemble from the eigenvectors of Θ.
class EnsembleSolver {
 public:
  EnsembleSolver(const EnsembleKernels& kernels, MatrixView<const double> targets, const EnsembleOptions& options)
      : kernels_(kernels),
        algebra_(kernels.trained.algebra()),
        n_(kernels.trained.samples()),
        tests_(std::ssize(kernels.test_variance)),
        lambda_(options.lambda + 2 * options.diag_reg * kernels.trained.mean_diagonal()),
        targets_(dense_or_zero(targets, n_, targets.cols)),
        test_prior_(test_columns(kernels.test_prior, tests_, n_, "K")),
        coordinates_(n_, tests_, Content::unset),
        pairs_(eigenpairs(kernels.trained, options.progress)) {
    const Matrix<double> columns = test_columns(kernels.test_trained, tests_, n_, "Θ");
    algebra_.multiply(Transpose::no, pairs_.vectors, columns.view(), coordinates_.view());
  }

  [[nodiscard]] bool indefinite() const { return pairs_.indefinite; }

  /// Writes the result for `time` to row `moment`.
  void write(double time, Index moment, Ensemble& result) const {
    const Matrix<double> weights = weights_at(time);  // Aᵀ
    MatrixView<double> mean{result.mean.view().row(moment), tests_, targets_.cols(), targets_.cols()};
    algebra_.host_product(1, Transpose::yes, weights.view(), Transpose::no, targets_.view(), 0, mean);
    Matrix<double> change(n_, tests_, Content::unset);  // KAᵀ − 2K*ᵀ
    kernels_.prior.multiply(weights.view(), change.view());
    for (Index i = 0; i < n_ * tests_; ++i) change.data()[i] -= 2 * test_prior_.data()[i];
    if (result.covariance.rows() > 0) {
      write_covariance(weights, change, result.covariance.view().block(moment * tests_, 0, tests_, tests_));
      for (Index t = 0; t < tests_; ++t) result.variance(moment, t) = result.covariance(moment * tests_ + t, t);
      return;
    }
    double* variance = result.variance.view().row(moment);
    std::copy(kernels_.test_variance.begin(), kernels_.test_variance.end(), variance);
    for (Index i = 0; i < n_; ++i) {
      for (Index t = 0; t < tests_; ++t) variance[t] += weights(i, t) * change(i, t);
    }
    for (Index t = 0; t < tests_; ++t) variance[t] = std::max(variance[t], 0.0);
  }

 private:
  /// Returns Aᵀ = Vᵀ diag(2(1 − e^{−st})/s) V Θ*ᵀ, s = λ + 2d: n × tests.
  [[nodiscard]] Matrix<double> weights_at(double time) const {
    Matrix<double> turned(n_, tests_, Content::unset);
    for (Index i = 0; i < n_; ++i) {
      const double d = pairs_.values[usize(i)];
      const bool learnt = lambda_ > 0 || d > pairs_.noise;
      const double weight = learnt ? 2 * decayed_time(lambda_ + 2 * d, time) : 0.0;
      for (Index t = 0; t < tests_; ++t) turned(i, t) = weight * coordinates_(i, t);
    }
    Matrix<double> weights(n_, tests_, Content::unset);
    algebra_.multiply(Transpose::yes, pairs_.vectors, turned.view(), weights.view());
    return weights;
  }

  /// Writes the symmetric part of K** + A(KAᵀ − 2K*ᵀ), the covariance.
  void write_covariance(const Matrix<double>& weights, const Matrix<double>& change, MatrixView<double> to) const {
    algebra_.read(GramMatrix(*kernels_.test_by_test, kernels_.prior.engine()).matrix(), to);
    algebra_.host_product(1, Transpose::yes, weights.view(), Transpose::no, change.view(), 1, to);
    make_covariance(to);
  }

  const EnsembleKernels& kernels_;
  const Algebra& algebra_;
  Index n_;
  Index tests_;
  double lambda_;
  Matrix<double> targets_;
  Matrix<double> test_prior_;   ///< K*ᵀ
  Matrix<double> coordinates_;  ///< V Θ*ᵀ
  Eigenpairs pairs_;
};

/// Returns the memory of an ensemble and its kernels, all in float64.
double ensemble_bytes(Index samples, Index tests, Index outputs, const EnsembleOptions& options) {
  const auto n = static_cast<double>(samples);
  const auto m = static_cast<double>(tests);
  const auto moments = static_cast<double>(options.times.size());
  const double covariances = options.covariance ? (moments + 1) * m * m : 0;
  return sizeof(double) * (5 * n * n + 7 * n * m + covariances + moments * m * static_cast<double>(outputs + 1));
}

}  // namespace

void EnsembleOptions::validate() const {
  if (kind == Kind::both) fail(Code::usage, "an ensemble trains all layers (ntk) or the last one (nngp); choose one");
  if (times.empty()) fail(Code::input, "an ensemble needs at least one time");
  for (const double time : times) {
    if (!(time >= 0)) fail(Code::input, "time {} is invalid; times must not be negative", time);
  }
  check_lambda(lambda);
  if (!std::isfinite(diag_reg) || diag_reg < 0) {
    fail(Code::input, "diag_reg is {}; it must be finite and not negative", diag_reg);
  }
}

Ensemble ensemble(const EnsembleKernels& kernels, MatrixView<const double> targets, const EnsembleOptions& options) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  (void)kernels.trained.check();
  (void)kernels.prior.check();
  const Index n = kernels.trained.samples();
  if (kernels.prior.samples() != n) fail(Code::input, "Θ has {} samples, but K has {}", n, kernels.prior.samples());
  check_targets(targets, n);
  check_prior_variance(kernels, options.covariance);
  const Index tests = std::ssize(kernels.test_variance);
  const double bytes = ensemble_bytes(n, tests, targets.cols, options);
  require_memory(bytes, options.memory, "an ensemble", "take fewer samples, test points or times");
  Ensemble result;
  result.outputs = targets.cols;
  result.summary.method = "closed form by eigenvectors";
  result.summary.memory = static_cast<std::size_t>(bytes);
  const EnsembleSolver solver(kernels, targets, options);
  if (solver.indefinite()) {
    result.summary.ending = Ending::not_positive_definite;
    result.summary.message = diagonal_shift_advice(kernels.trained, options.progress);
  } else {
    result.times = options.times;
    const Index moments = std::ssize(options.times);
    result.mean = Matrix<double>(moments, tests * targets.cols);
    result.variance = Matrix<double>(moments, tests);
    if (options.covariance) result.covariance = Matrix<double>(moments * tests, tests);
    ProgressTicker ticker(options.progress, moments, "times");
    for (Index moment = 0; moment < moments; ++moment) {
      solver.write(options.times[usize(moment)], moment, result);
      ticker.at(moment + 1);
    }
  }
  result.summary.seconds = seconds_since(start);
  return result;
}

Ensemble ensemble(const Network& network, const SampleView& x, MatrixView<const double> targets, const SampleView& test,
                  const EnsembleOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  require_trained_layer(network, options.kind);
  check_targets(targets, x.count());
  require_memory(ensemble_bytes(x.count(), test.count(), targets.cols, options), options.memory, "an ensemble",
                 "take fewer samples, test points or times");
  const DeviceMemoryLimit limit(engine, options.memory);
  const bool all_layers = options.kind == Kind::ntk;
  const GramOptions how{
      .kind = all_layers ? Kind::both : Kind::nngp, .precision = options.precision, .progress = options.progress};
  const Gram train = gram(network, x, how, engine);
  const Gram cross = gram(network, test, x, how, engine);
  const Diagonal own = diagonal(network, test, engine, options.precision);
  const GramMatrix prior(view_of(train.nngp), engine);
  EnsembleKernels kernels{.trained = all_layers ? GramMatrix(view_of(train.ntk), engine) : prior,
                          .prior = prior,
                          .test_trained = view_of(all_layers ? cross.ntk : cross.nngp),
                          .test_prior = view_of(cross.nngp),
                          .test_variance = {own.values.view().row(0), own.values.view().row(0) + test.count()},
                          .test_by_test = {}};
  AnyMatrix between;
  if (options.covariance) {
    between =
        gram(network, test, {.kind = Kind::nngp, .precision = options.precision, .progress = options.progress}, engine)
            .nngp;
    kernels.test_by_test = view_of(between);
  }
  Ensemble result = ensemble(kernels, targets, options);
  result.quadrature_error = std::max({train.quadrature_error, cross.quadrature_error, own.quadrature_error});
  result.summary.seconds = seconds_since(start);
  return result;
}

}  // namespace widelimit
