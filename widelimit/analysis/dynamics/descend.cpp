#include "widelimit/analysis/dynamics/descend.hpp"

#include "widelimit/analysis/dynamics/convergence_rate.hpp"
#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/analysis/dynamics/machine_limit.hpp"
#include "widelimit/analysis/dynamics/recorder.hpp"
#include "widelimit/base/choice.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/finite/training/batches.hpp"
#include "widelimit/finite/training/stable_rate.hpp"
#include "widelimit/kernel/gram_columns.hpp"
#include "widelimit/machine/gram/extremes.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace widelimit {

namespace {

/// Coefficients and outputs of a machine during descent. Outputs are updated by EQ (5) instead of recomputed from the
/// coefficients: g ← (1 − ηλ)g − η·(n/|B|)·K l'.
class Descent {
 public:
  Descent(const GramMatrix& k, const DynamicsInput& input, const Start& start, Batches batches);

  /// Performs one step; returns false if an output exceeds 1e30, i.e. the machine has diverged.
  bool step(double eta);
  [[nodiscard]] Index steps() const { return steps_; }
  [[nodiscard]] const Matrix<double>& alpha() const { return alpha_; }
  [[nodiscard]] const Matrix<double>& g() const { return g_; }
  [[nodiscard]] double offset_left() const { return offset_left_; }
  /// Returns max |g − (Kα + h)|/max |g|, the error of the updated outputs, and replaces g by Kα + h. O(n²·outputs).
  [[nodiscard]] double recursion_error();

 private:
  void full_step(double eta);
  void batch_step(double eta, const std::vector<Index>& batch);
  void slopes_of(Index sample, double* slopes) const;
  /// product += scale·K(:, sample)·changeᵀ.
  void add_row(Index sample, const double* change, double scale, Matrix<double>& product);

  const GramMatrix& k_;
  GramColumns<double> columns_;
  DynamicsInput input_;
  Batches batches_;
  Matrix<double> offset_, alpha_, g_;
  Matrix<double> slopes_, product_;  ///< l' of all samples at the last full step, and K l'
  Index updates_ = 0;                ///< rank-one updates of `product_` since its last full computation
  Index steps_ = 0;
  double offset_left_ = 1;
};

constexpr double divergence_limit = 1e30;
/// Maximum number of rank-one updates of K l' between two full products.
constexpr Index updates_between_products = 256;

/// m ← a·m − b·by.
void scale_and_subtract(Matrix<double>& m, double a, double b, const Matrix<double>& by) {
  for (Index i = 0; i < m.rows() * m.cols(); ++i) m.data()[i] = a * m.data()[i] - b * by.data()[i];
}

Descent::Descent(const GramMatrix& k, const DynamicsInput& input, const Start& start, Batches batches)
    : k_(k),
      columns_(k),
      input_(input),
      batches_(std::move(batches)),
      offset_(dense_or_zero(start.offset, input.samples, input.targets.cols)),
      alpha_(dense_or_zero(start.alpha, input.samples, input.targets.cols)),
      g_(input.samples, input.targets.cols),
      slopes_(input.samples, input.targets.cols),
      product_(input.samples, input.targets.cols) {
  (void)recursion_error();
}

void Descent::slopes_of(Index sample, double* slopes) const {
  const auto width = static_cast<std::size_t>(input_.targets.cols);
  loss_slopes(input_.loss, {g_.view().row(sample), width}, {input_.targets.row(sample), width}, {slopes, width});
}

void Descent::add_row(Index sample, const double* change, double scale, Matrix<double>& product) {
  host::add_outer(scale, {columns_.column(sample), usize(input_.samples)}, {change, usize(input_.targets.cols)},
                  product.view());
}

void Descent::full_step(double eta) {
  const Index width = input_.targets.cols;
  Matrix<double> now(input_.samples, width, Content::unset);
  std::vector<Index> changed;
  for (Index i = 0; i < input_.samples; ++i) {
    slopes_of(i, now.view().row(i));
    if (!std::equal(now.view().row(i), now.view().row(i) + width, slopes_.view().row(i))) changed.push_back(i);
  }
  // For a piecewise linear loss few slopes change per step; columns of the symmetric K are read as rows.
  const bool few = 4 * std::ssize(changed) < input_.samples && updates_ < updates_between_products;
  if (few) {
    std::vector<double> change(static_cast<std::size_t>(width));
    for (const Index i : changed) {
      for (Index j = 0; j < width; ++j) change[static_cast<std::size_t>(j)] = now(i, j) - slopes_(i, j);
      add_row(i, change.data(), 1.0, product_);
    }
    updates_ += std::ssize(changed);
  } else {
    k_.multiply(now.data(), product_.data(), width);
    updates_ = 0;
  }
  slopes_ = std::move(now);
  const double kept = 1 - eta * input_.lambda;
  scale_and_subtract(alpha_, kept, eta, slopes_);
  scale_and_subtract(g_, kept, eta, product_);
}

void Descent::batch_step(double eta, const std::vector<Index>& batch) {
  const Index width = input_.targets.cols;
  const double weight = eta * static_cast<double>(input_.samples) / static_cast<double>(batch.size());
  Matrix<double> slopes(std::ssize(batch), width, Content::unset);
  for (Index b = 0; b < slopes.rows(); ++b) slopes_of(batch[static_cast<std::size_t>(b)], slopes.view().row(b));
  const double kept = 1 - eta * input_.lambda;
  std::for_each_n(alpha_.data(), input_.samples * width, [&](double& a) { a *= kept; });
  std::for_each_n(g_.data(), input_.samples * width, [&](double& g) { g *= kept; });
  for (Index b = 0; b < slopes.rows(); ++b) {
    const Index i = batch[static_cast<std::size_t>(b)];
    const double* slope = slopes.view().row(b);
    if (std::all_of(slope, slope + width, [](double s) { return s == 0; })) continue;
    for (Index j = 0; j < width; ++j) alpha_(i, j) -= weight * slope[j];
    add_row(i, slope, -weight, g_);
  }
}

bool Descent::step(double eta) {
  const std::vector<Index>& batch = batches_.of(steps_);
  if (batches_.full()) {
    full_step(eta);
  } else {
    batch_step(eta, batch);
  }
  offset_left_ *= 1 - eta * input_.lambda;
  ++steps_;
  return std::all_of(g_.data(), g_.data() + input_.samples * input_.targets.cols,
                     [](double g) { return std::abs(g) <= divergence_limit; });
}

double Descent::recursion_error() {
  const Index entries = input_.samples * input_.targets.cols;
  Matrix<double> solution(input_.samples, input_.targets.cols, Content::unset);
  k_.multiply(alpha_.data(), solution.data(), input_.targets.cols);
  double error = 0;
  double largest = 0;
  for (Index i = 0; i < entries; ++i) {
    solution.data()[i] += offset_left_ * offset_.data()[i];
    error = std::max(error, std::abs(solution.data()[i] - g_.data()[i]));
    largest = std::max(largest, std::abs(solution.data()[i]));
  }
  g_ = std::move(solution);
  return largest > 0 ? error / largest : error;
}

constexpr std::array<std::string_view, 2> schedule_names{"constant", "pegasos"};

/// Number of recursion_error() evaluations along a trajectory.
constexpr Index recursion_checks = 32;

/// Factor over the initial objective above which a run counts as diverged.
constexpr double raised_objective = 2;

double step_size(const DescendOptions& options, Index step) {
  return options.schedule == RateSchedule::constant ? options.rate.value()
                                                    : 1 / (options.lambda * static_cast<double>(step + 1));
}

/// Returns 1/(λ + c·λ_max), at most half of the largest stable step, with c as for networks. For a batch, λ_max of
/// (n/|B|)·K(B, B) is at most min(n/|B|·λ_max, n·max Kᵢᵢ).
double default_step(const GramMatrix& k, const DescendOptions& options) {
  const auto n = static_cast<double>(k.samples());
  double largest = std::max(lanczos_extremes(k, options.progress).largest, 0.0);
  if (options.batch > 0) {
    const double diagonal = *std::max_element(k.diagonal().begin(), k.diagonal().end());
    largest = std::min(n / static_cast<double>(options.batch) * largest, n * diagonal);
  }
  const double curvature = options.lambda + descent_curvature(options.loss.kind) * largest;
  return curvature > 0 ? 1 / curvature : 1.0;
}

Index recorded_moments(const DescendOptions& options) {
  if (!options.record_at.empty()) return std::ssize(options.record_at);
  return 1 + options.steps / options.record_every + (options.steps % options.record_every == 0 ? 0 : 1);
}

bool recorded(const DescendOptions& options, Index step) {
  if (options.record_at.empty()) return step % options.record_every == 0 || step == options.steps;
  return std::binary_search(options.record_at.begin(), options.record_at.end(), step);
}

/// Returns whether the final objective exceeds raised_objective times the initial one, up to rounding near 0.
bool rose(const Trajectory& trajectory) {
  if (trajectory.objective.size() < 2) return false;
  const double rounding = 1e-6 * static_cast<double>(trajectory.alpha.rows());
  return trajectory.objective.back() > raised_objective * trajectory.objective.front() + rounding;
}

std::string step_warning(const DescendOptions& options, double curvature) {
  const double largest = step_size(options, 0);
  if (curvature == 0 || largest <= 2 / curvature) return {};
  return fmt::format("the step size {:.3g} exceeds {:.3g}, the largest stable one", largest, 2 / curvature);
}

/// Checks the rate of full-batch descent on a smooth loss: L − L* is reduced at least by the factor 1 − 2ηλ(1 − ηM/2)
/// per step, M the curvature.
RateCheck check_descent_rate(const Trajectory& trajectory, const GramMatrix& k, const DynamicsInput& input,
                             const DescendOptions& options, double curvature) {
  const auto skipped = [](const char* reason) {
    RateCheck check;
    check.note = reason;
    return check;
  };
  if (!largest_curvature(options.loss.kind)) return skipped("there is no rate for descent on a loss with kinks");
  if (options.batch != 0 && options.batch != input.samples) return skipped("mini-batches descend only in expectation");
  if (options.schedule != RateSchedule::constant) return skipped("the step size is not constant");
  const double eta = options.rate.value();
  if (eta * curvature > 2) return skipped("the step size is not stable");
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
  check_lambda(lambda);
  if (rate && (!(*rate > 0) || !std::isfinite(*rate))) {
    fail(Code::input, "the learning rate is {}; it must be above 0", *rate);
  }
  if (steps < 0) fail(Code::input, "the number of steps is {}; it must not be negative", steps);
  if (record_every < 1) fail(Code::input, "the recording interval is {} steps; choose 1 or more", record_every);
  for (std::size_t k = 0; k < record_at.size(); ++k) {
    if (record_at[k] > steps || (k == 0 ? record_at[k] != 0 : record_at[k] <= record_at[k - 1])) {
      fail(Code::input, "recorded step {} is invalid; steps must ascend from 0 to at most {}", record_at[k], steps);
    }
  }
}

Trajectory descend(const GramMatrix& k, MatrixView<const double> targets, const DescendOptions& requested) {
  const Interruptible interruptible(requested.progress);
  const auto begin = Clock::now();
  requested.validate();
  (void)k.check();
  DescendOptions options = requested;
  const Index n = k.samples();
  const DynamicsInput input{n, targets, options.loss, options.lambda};
  check_dynamics(input, options.start, options.record);
  Batches batches(n, options.batch, options.seed);

  Recorder recorder(input, options.start, options.record, recorded_moments(options), k.engine());
  if (options.check_definite && !is_semidefinite(k, options.progress)) {
    return without_machine(std::move(recorder).finish(), k, options.progress);
  }
  const bool constant = options.schedule == RateSchedule::constant;
  if (constant && !options.rate) options.rate = default_step(k, options);
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
                                                  ? std::string("all samples per step")
                                                  : fmt::format("{} samples per step", options.batch));
  summary.iterations = descent.steps();
  summary.message = step_warning(options, curvature);
  summary.memory = 6 * sizeof(double) * static_cast<std::size_t>(n * targets.cols);
  trajectory.recursion_error = recursion;
  if (curvature > 0) trajectory.stable_step = 2 / curvature;
  if (constant) trajectory.step = *options.rate;
  if (diverged) {
    summary.ending = Ending::diverged;
    const std::string cause = summary.message.empty() ? "take smaller steps" : summary.message;
    summary.message = fmt::format("outputs diverged at step {}: {}", descent.steps(), cause);
  } else if (constant && rose(trajectory)) {
    summary.ending = Ending::diverged;
    summary.message = fmt::format("the objective rose from {:.3g} to {:.3g} in {} steps: {}",
                                  trajectory.objective.front(), trajectory.objective.back(), descent.steps(),
                                  summary.message.empty() ? "take smaller steps" : summary.message);
  } else if (options.check_rate) {
    trajectory.rate = check_descent_rate(trajectory, k, input, options, curvature);
  }
  summary.seconds = seconds_since(begin);
  return trajectory;
}

}  // namespace widelimit
