#include "widelimit/analysis/dynamics/convergence_rate.hpp"
#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/analysis/dynamics/machine_limit.hpp"
#include "widelimit/analysis/dynamics/recorder.hpp"

#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/dense_output_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/generation.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

using OdeState = std::vector<double>;
using DormandPrince = boost::numeric::odeint::runge_kutta_dopri5<OdeState>;
using DenseStepper = boost::numeric::odeint::result_of::make_dense_output<DormandPrince>::type;

/// Relative duality gap of the fit that gives the limit at infinite time.
constexpr double limit_tolerance = 1e-10;
/// Largest stable product of step size and curvature for the Dormand–Prince method.
constexpr double stable_product = 3.3;

/// Integrates α with the Dormand–Prince method of order 5(4). Dense output keeps the requested times from shortening
/// steps. The local error of α is at most tolerance·(1 + |α|) per step, which also prevents unstable steps above 3.3/M
/// with M the current curvature of the objective, i.e. about M·t/3 steps at most. O(n²·outputs) for each of the 6
/// stages.
class SmoothFlow final : public FlowSolver {
 public:
  explicit SmoothFlow(const FlowProblem& problem)
      : problem_(problem),
        n_(problem.k.samples()),
        outputs_(problem.input.targets.cols),
        curvature_(objective_curvature(problem.k, problem.input.loss.kind, problem.input.lambda, problem.progress)),
        stepper_(boost::numeric::odeint::make_dense_output(problem.tolerance, problem.tolerance, DormandPrince())),
        offset_(dense_or_zero(problem.start.offset, n_, outputs_)),
        alpha_(dense_or_zero(problem.start.alpha, n_, outputs_)),
        g_(n_, outputs_) {
    const OdeState first(alpha_.data(), alpha_.data() + n_ * outputs_);
    stepper_.initialize(first, 0.0, curvature_ > 0 ? 0.01 / curvature_ : 0.01);
  }

  bool advance(double time) override {
    if (std::isinf(time)) return jump_to_limit();
    const auto system = [this](const OdeState& alpha, OdeState& change, double t) { slope(alpha, change, t); };
    OdeState state(alpha_.data(), alpha_.data() + n_ * outputs_);
    while (stepper_.current_time() < time) {
      problem_.on_progress();
      if (steps_ == problem_.most_steps) return false;
      stepper_.do_step(system);
      ++steps_;
    }
    if (steps_ > 0) stepper_.calc_state(time, state);
    std::copy(state.begin(), state.end(), alpha_.data());
    outputs_of(alpha_.data(), time, g_.data());
    return true;
  }

  [[nodiscard]] const Matrix<double>& alpha() const override { return alpha_; }
  [[nodiscard]] const Matrix<double>& g() const override { return g_; }

  [[nodiscard]] std::optional<Optimum> optimum() override {
    if (!find_limit()) return std::nullopt;
    const double primal = limit_->summary.primal.value_or(0.0);
    // Allows an error of the tolerance in every coefficient.
    const double drift = problem_.tolerance * (1 + std::abs(primal)) * 10;
    return Optimum{primal, limit_->summary.gap.value_or(0.0) * std::abs(primal) + drift};
  }

  void report(Trajectory& trajectory) const override {
    Summary& summary = trajectory.summary;
    summary.method = fmt::format("Runge–Kutta of Dormand and Prince, tolerance {:g}", problem_.tolerance);
    summary.iterations = steps_;
    summary.memory = 12 * sizeof(double) * static_cast<std::size_t>(n_ * outputs_);
    if (steps_ < problem_.most_steps && !without_limit_) return;
    summary.ending = Ending::iteration_limit;
    summary.message =
        without_limit_
            ? "the limit at infinite time is the fitted machine, but the fit failed (lambda = 0, or labels of "
              "one class only); choose finite times"
            : fmt::format(
                  "the limit of {} steps was reached at time {:.6g}; steps above {:.3g} are unstable. Allow more "
                  "steps, choose earlier times, or divide the kernel by its largest eigenvalue",
                  steps_, stepper_.current_time(), stable_product / curvature_);
  }

 private:
  void outputs_of(const double* alpha, double time, double* g) const {
    problem_.k.multiply(alpha, g, outputs_);
    const double left = decay(problem_.input.lambda, time);
    for (Index i = 0; i < n_ * outputs_; ++i) g[i] += left * offset_.data()[i];
  }

  void slope(const OdeState& alpha, OdeState& change, double time) {
    outputs_of(alpha.data(), time, change.data());
    const auto width = static_cast<std::size_t>(outputs_);
    std::vector<double> l(width);
    for (Index i = 0; i < n_; ++i) {
      double* row = change.data() + i * outputs_;
      loss_slopes(problem_.input.loss, {row, width}, {problem_.input.targets.row(i), width}, l);
      for (std::size_t j = 0; j < width; ++j) {
        row[j] = -problem_.input.lambda * alpha[static_cast<std::size_t>(i) * width + j] - l[j];
      }
    }
  }

  bool find_limit() {
    if (!limit_ && !without_limit_) {
      limit_ = machine_limit(problem_.k, problem_.input, limit_tolerance, problem_.progress);
    }
    return limit_.has_value();
  }

  bool jump_to_limit() {
    without_limit_ = !find_limit();
    if (without_limit_) return false;
    std::copy_n(limit_->alpha.data(), n_ * outputs_, alpha_.data());
    problem_.k.multiply(alpha_.data(), g_.data(), outputs_);
    return true;
  }

  FlowProblem problem_;
  Index n_;
  Index outputs_;
  double curvature_;
  DenseStepper stepper_;
  Matrix<double> offset_, alpha_, g_;
  Index steps_ = 0;
  std::optional<Fit> limit_;
  bool without_limit_ = false;
};

}  // namespace

std::unique_ptr<FlowSolver> smooth_flow(const FlowProblem& problem) { return std::make_unique<SmoothFlow>(problem); }

}  // namespace widelimit
