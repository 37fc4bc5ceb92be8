#include "widelimit/analysis/dynamics/flow.hpp"

#include "widelimit/analysis/dynamics/convergence_rate.hpp"
#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/analysis/dynamics/recorder.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index usual_most_steps = 1'000'000;

std::unique_ptr<FlowSolver> flow_solver(const FlowProblem& problem, FlowMethod method) {
  const LossKind kind = problem.input.loss.kind;
  if (is_piecewise_linear(kind)) {
    if (method == FlowMethod::runge_kutta) {
      fail(Code::usage,
           "Runge–Kutta does not apply to the {} loss, which has kinks; use the automatic method, which is exact",
           to_string(kind));
    }
    return kinked_flow(problem);
  }
  if (kind == LossKind::squared && method == FlowMethod::automatic) return squared_flow(problem);
  return smooth_flow(problem);
}

RateCheck check_flow_rate(const Trajectory& trajectory, FlowSolver& solver, double first, const FlowOptions& options) {
  RateEnds ends{.first = first, .outside = options.start.outside()};
  if (options.lambda > 0) {
    if (const std::optional<Optimum> found = solver.optimum()) {
      ends.optimum = found->objective;
      ends.uncertainty = found->uncertainty;
    }
  } else {
    ends.uncertainty = 10 * options.tolerance * std::abs(first);
  }
  return check_rate(trajectory, ends, [&](double time) { return decay(2 * options.lambda, time); });
}

}  // namespace

void FlowOptions::validate() const {
  check_lambda(lambda);
  if (times.empty()) fail(Code::input, "a flow needs at least one time");
  if (!(times.front() >= 0)) fail(Code::input, "time {} is invalid; times must not be negative", times.front());
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (!(times[k] >= times[k - 1])) {
      fail(Code::input, "time {} comes after {}; times must not decrease", times[k], times[k - 1]);
    }
  }
  if (!(tolerance > 0 && tolerance < 1))
    fail(Code::input, "the tolerance is {}; choose a value between 0 and 1", tolerance);
  if (most_events < 0 || most_steps < 0) fail(Code::input, "the limits of events and steps must not be negative");
}

Trajectory flow(const GramMatrix& k, MatrixView<const double> targets, const FlowOptions& options) {
  const Interruptible interruptible(options.progress);
  const auto begin = Clock::now();
  options.validate();
  (void)k.check();
  const Index n = k.samples();
  const DynamicsInput input{n, targets, options.loss, options.lambda};
  check_dynamics(input, options.start, options.record);

  const auto moments = std::ssize(options.times);
  ProgressTicker ticker(options.progress, moments, "times");
  Index done = 0;
  const FlowProblem problem{.k = k,
                            .input = input,
                            .start = options.start,
                            .tolerance = options.tolerance,
                            .most_events = options.most_events == 0 ? 1000 + 200 * n : options.most_events,
                            .most_steps = options.most_steps == 0 ? usual_most_steps : options.most_steps,
                            .progress = options.progress,
                            .on_progress = [&] { ticker.at(done); }};
  problem.on_progress();
  Recorder recorder(input, options.start, options.record, moments, k.engine());
  // The closed form for the squared loss computes the eigenvalues itself.
  const bool by_formula = options.loss.kind == LossKind::squared && options.method == FlowMethod::automatic;
  if (options.check_definite && !by_formula && !is_semidefinite(k, options.progress)) {
    return without_machine(std::move(recorder).finish(), k, options.progress);
  }
  const auto solver = flow_solver(problem, options.method);
  const bool started = solver->advance(0);
  const double first =
      started ? objective_at(input, options.start, {0, 1, solver->alpha(), solver->g()}).objective : 0.0;
  bool finite = true;
  for (const double time : options.times) {
    if (!started || !solver->advance(time)) break;
    finite = recorder.add({time, decay(options.lambda, time), solver->alpha(), solver->g()});
    if (!finite) break;
    ticker.at(++done);
  }
  Trajectory trajectory = std::move(recorder).finish();
  solver->report(trajectory);
  if (!finite && trajectory.summary.converged()) {
    trajectory.summary.ending = Ending::diverged;
    trajectory.summary.message = "outputs exceeded the range of float64; scale the kernel or choose earlier times";
  }
  if (options.check_rate && trajectory.summary.converged()) {
    done = std::min(done, moments - 1);
    trajectory.rate = check_flow_rate(trajectory, *solver, first, options);
  }
  trajectory.summary.seconds = seconds_since(begin);
  return trajectory;
}

}  // namespace widelimit
