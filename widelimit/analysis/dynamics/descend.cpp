#include "widelimit/analysis/dynamics/descend.hpp"

#include "widelimit/analysis/dynamics/descent.hpp"
#include "widelimit/analysis/dynamics/machine_limit.hpp"
#include "widelimit/analysis/dynamics/rate_check.hpp"
#include "widelimit/analysis/dynamics/recorder.hpp"
#include "widelimit/analysis/dynamics/stable_step.hpp"
#include "widelimit/base/choice.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> schedule_names{"constant", "pegasos"};

/// Outputs are compared with those of the coefficients so many times along a trajectory.
constexpr Index recursion_checks = 32;

double step_size(const DescendOptions& options, Index step) {
  return options.schedule == RateSchedule::constant ? options.rate
                                                    : 1 / (options.lambda * static_cast<double>(step + 1));
}

Index recorded_moments(const DescendOptions& options) {
  if (!options.record_at.empty()) return std::ssize(options.record_at);
  return 1 + options.steps / options.record_every + (options.steps % options.record_every == 0 ? 0 : 1);
}

bool recorded(const DescendOptions& options, Index step) {
  if (options.record_at.empty()) return step % options.record_every == 0 || step == options.steps;
  return std::binary_search(options.record_at.begin(), options.record_at.end(), step);
}

std::string step_warning(const DescendOptions& options, double curvature) {
  const double largest = step_size(options, 0);
  if (curvature == 0 || largest <= 2 / curvature) return {};
  return fmt::format("the step {:.3g} is beyond {:.3g}, the largest that is stable", largest, 2 / curvature);
}

/// Of descent on a loss without kinks by all samples: L − L* falls by 1 − 2ηλ(1 − ηM/2) or more a step, M the
/// curvature.
RateCheck check_descent_rate(const Trajectory& trajectory, const GramMatrix& k, const DynamicsInput& input,
                             const DescendOptions& options, double curvature) {
  const auto skipped = [](const char* why) {
    RateCheck check;
    check.note = why;
    return check;
  };
  if (!largest_curvature(options.loss.kind)) return skipped("a loss with kinks has no rate of its own in steps");
  if (options.batch != 0 && options.batch != input.samples) return skipped("batches descend in the mean only");
  if (options.schedule != RateSchedule::constant) return skipped("the step changes");
  const double eta = options.rate;
  if (eta * curvature > 2) return skipped("the step is not stable");
  RateEnds ends{.first = trajectory.objective.front(), .outside = options.start.outside()};
  if (const auto limit = machine_limit(k, input, 1e-10, options.progress)) {
    ends.optimum = *limit->summary.primal;
    ends.uncertainty = limit->summary.gap.value_or(0.0) * std::abs(*ends.optimum);
  }
  const double factor = 1 - 2 * eta * options.lambda * (1 - eta * curvature / 2);
  return check_rate(trajectory, ends, [&](double step) { return std::pow(factor, step); });
}

}  // namespace

std::string_view to_string(RateSchedule schedule) { return schedule_names[static_cast<std::size_t>(schedule)]; }
RateSchedule parse_schedule(std::string_view text) {
  return parse_choice<RateSchedule>("schedule of step sizes", schedule_names, text);
}

void DescendOptions::validate() const {
  if (schedule == RateSchedule::pegasos && lambda == 0) {
    fail(Code::usage, "the Pegasos steps 1/(lambda t) need a lambda above 0");
  }
  if (!(rate > 0) || !std::isfinite(rate)) fail(Code::input, "the step size is {}; it must be above 0", rate);
  if (steps < 0) fail(Code::input, "{} steps; the number of steps is not negative", steps);
  if (record_every < 1) fail(Code::input, "record every {} steps; choose 1 or more", record_every);
  for (std::size_t k = 0; k < record_at.size(); ++k) {
    if (record_at[k] > steps || (k == 0 ? record_at[k] != 0 : record_at[k] <= record_at[k - 1])) {
      fail(Code::input, "step {} cannot be recorded here; begin with 0 and go up to {} at most", record_at[k], steps);
    }
  }
}

Trajectory descend(const GramMatrix& k, MatrixView<const double> targets, const DescendOptions& options) {
  const auto begin = Clock::now();
  options.validate();
  (void)k.check();
  const Index n = k.samples();
  const DynamicsInput input{n, targets, options.loss, options.lambda};
  check_dynamics(input, options.start, options.record);
  Batches batches(n, options.batch, options.seed);

  Recorder recorder(input, options.start, options.record, recorded_moments(options), k.engine());
  if (options.check_definite && !is_semidefinite(k, options.progress)) {
    return without_machine(std::move(recorder).finish(), k, options.progress);
  }
  const double curvature = objective_curvature(k, options.loss.kind, options.lambda, options.progress);
  Descent descent(k, input, options.start, std::move(batches));
  ProgressTicker ticker(options.progress, options.steps, "steps");
  const Index between_checks = std::max<Index>(options.steps / recursion_checks, 1);
  double recursion = 0;
  bool diverged = recorded(options, 0) && !recorder.add({0, 1, descent.alpha(), descent.g()});
  while (!diverged && descent.steps() < options.steps) {
    diverged = !descent.step(step_size(options, descent.steps()));
    const Index step = descent.steps();
    if (step % between_checks == 0 && !diverged) recursion = std::max(recursion, descent.recursion_error());
    if (recorded(options, step) && !diverged) {
      diverged = !recorder.add({static_cast<double>(step), descent.offset_left(), descent.alpha(), descent.g()});
    }
    ticker.at(step);
  }
  Trajectory trajectory = std::move(recorder).finish();
  Summary& summary = trajectory.summary;
  summary.method = fmt::format("descent, {}", options.batch == 0 || options.batch == n
                                                  ? std::string("all samples a step")
                                                  : fmt::format("{} samples a step", options.batch));
  summary.iterations = descent.steps();
  summary.message = step_warning(options, curvature);
  summary.memory = 6 * sizeof(double) * static_cast<std::size_t>(n * targets.cols);
  trajectory.recursion_error = recursion;
  if (curvature > 0) trajectory.stable_step = 2 / curvature;
  if (diverged) {
    summary.ending = Ending::diverged;
    const std::string cause = summary.message.empty() ? "take smaller steps" : summary.message;
    summary.message = fmt::format("outputs grew without bound at step {}: {}", descent.steps(), cause);
  } else if (options.check_rate) {
    trajectory.rate = check_descent_rate(trajectory, k, input, options, curvature);
  }
  summary.seconds = seconds_since(begin);
  return trajectory;
}

}  // namespace widelimit
