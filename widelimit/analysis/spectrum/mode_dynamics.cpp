#include "widelimit/analysis/spectrum/mode_dynamics.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/train.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index least_points = 3;

/// Returns (1 − e^s)/η, accurate for small s.
double eigenvalue_of(double slope, double rate) { return -std::expm1(slope) / rate; }

std::optional<ModeRate> fit_mode(const ModeDynamics& found, Index mode, double eigenvalue, double fitted_to) {
  const double start = found.measured(0, mode);
  if (!(start > 0)) return std::nullopt;
  std::vector<double> step;
  std::vector<double> log_error;
  for (std::size_t r = 0; r < found.steps.size(); ++r) {
    const double error = found.measured(static_cast<Index>(r), mode);
    if (!(error > fitted_to * start)) break;
    step.push_back(static_cast<double>(found.steps[r]));
    log_error.push_back(std::log(error));
  }
  if (std::ssize(step) < least_points) return std::nullopt;
  const auto line = fit_line(step, log_error);
  if (!line) return std::nullopt;
  ModeRate result{.mode = mode,
                  .share = start * start / found.loss.front(),
                  .eigenvalue = eigenvalue,
                  .fitted = eigenvalue_of(line->slope, found.rate),
                  .interval = {},
                  .points = line->points};
  if (line->interval) {
    // A larger slope means a slower decay.
    result.interval =
        std::pair(eigenvalue_of(line->interval->second, found.rate), eigenvalue_of(line->interval->first, found.rate));
  }
  return result;
}

/// Computes ‖⟨v_i, y − f⟩‖ over the outputs for all i.
void project_errors(const KernelSpectrum& spectrum, MatrixView<const double> y, const double* outputs, double* to) {
  Matrix<double> error(y.rows, y.cols, Content::unset);
  for (Index i = 0; i < y.rows; ++i) {
    for (Index c = 0; c < y.cols; ++c) error(i, c) = y(i, c) - outputs[i * y.cols + c];
  }
  const Matrix<double> turned = spectrum.project(error.view());
  for (Index i = 0; i < y.rows; ++i) {
    double square = 0;
    for (Index c = 0; c < y.cols; ++c) square += turned(i, c) * turned(i, c);
    to[i] = std::sqrt(square);
  }
}

void predict(const KernelSpectrum& spectrum, ModeDynamics& found) {
  const Index n = spectrum.samples();
  found.predicted = Matrix<double>(std::ssize(found.steps), n, Content::unset);
  const double* start = found.measured.view().row(0);
  double total = 0;
  for (Index i = 0; i < n; ++i) total += start[i] * start[i];
  for (Index r = 0; r < std::ssize(found.steps); ++r) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      const double factor = std::abs(1 - found.rate * spectrum.eigenvalues()[usize(i)]);
      const double error = std::pow(factor, static_cast<double>(found.steps[usize(r)])) * start[i];
      found.predicted(r, i) = error;
      sum += error * error;
    }
    found.predicted_loss.push_back(sum);
    found.largest_difference = std::max(found.largest_difference, std::abs(found.loss[usize(r)] - sum) / total);
  }
}

}  // namespace

void ModeOptions::validate() const {
  if (width < 1) fail(Code::usage, "the width is {}; choose 1 or more", width);
  if (steps < 1) fail(Code::usage, "the number of steps is {}; choose 1 or more", steps);
  if (records < 2) fail(Code::usage, "the number of recorded steps is {}; choose 2 or more", records);
  if (rate && (!(*rate > 0) || !std::isfinite(*rate))) {
    fail(Code::usage, "the learning rate is {}; it must be positive", *rate);
  }
  if (!(fitted_to > 0 && fitted_to < 1)) {
    fail(Code::usage, "the relative error at which the fit ends is {}; choose a number between 0 and 1", fitted_to);
  }
}

std::vector<Index> geometric_steps(Index steps, Index count) {
  std::vector<Index> chosen{0};
  for (Index k = 0; k < count; ++k) {
    const double place = count == 1 ? 1.0 : static_cast<double>(k) / static_cast<double>(count - 1);
    const auto step = static_cast<Index>(std::llround(std::pow(static_cast<double>(steps), place)));
    // Rounded steps that coincide are replaced by consecutive ones.
    const Index next = std::min(std::max(step, chosen.back() + 1), steps);
    if (next > chosen.back()) chosen.push_back(next);
  }
  return chosen;
}

ModeDynamics mode_dynamics(const Network& network, const SampleView& x, MatrixView<const double> y,
                           const KernelSpectrum& spectrum, const ModeOptions& options, const Engine& engine) {
  options.validate();
  const auto stable = spectrum.stable_rate();
  if (!stable) fail(Code::input, "the kernel of the network is 0 on all samples; the network cannot learn");
  ModeDynamics found;
  found.width = options.width;
  found.rate = options.rate.value_or(*stable / 4);
  if (found.rate > *stable) {
    fail(Code::usage, "gradient descent at the rate {:.6g} diverges; choose one up to 2/λ₁ = {:.6g}", found.rate,
         *stable);
  }
  TrainOptions training;
  training.width = options.width;
  training.loss.kind = LossKind::squared;
  training.regulariser = Regulariser::none;
  training.rate = found.rate / 2;  // the squared loss of `train` has no ½
  training.steps = options.steps;
  training.centred = true;
  training.seed = options.seed;
  training.precision = options.precision;
  training.record_at = geometric_steps(options.steps, options.records);
  training.memory = options.memory;
  training.progress = options.progress;
  const TrainedNetwork trained = train(network, {.x = x, .y = y}, training, engine);
  const TrainingRecord& record = trained.record;
  found.summary = trained.summary;
  found.steps = record.steps;
  found.distance = record.distance;
  found.loss = record.loss;
  if (!found.summary.finished()) return found;
  const Index n = spectrum.samples();
  found.measured = Matrix<double>(record.count(), n, Content::unset);
  for (Index r = 0; r < record.count(); ++r) {
    project_errors(spectrum, y, record.outputs.data() + r * n * y.cols, found.measured.view().row(r));
  }
  predict(spectrum, found);
  for (Index i = 0; i < spectrum.rank(); ++i) {
    const auto rate = fit_mode(found, i, spectrum.eigenvalues()[usize(i)], options.fitted_to);
    if (rate) found.rates.push_back(*rate);
  }
  return found;
}

}  // namespace widelimit
