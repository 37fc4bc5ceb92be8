#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/dead_network.hpp"
#include "widelimit/finite/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

/// Termination of a training: divergence, dead networks, and advice on the learning rate.    [docs/theory/finite.md]
namespace widelimit {

namespace {

/// A loss that grew by this factor counts as diverging.
constexpr double divergence_factor = 1e6;
/// A final objective above the initial one by this factor counts as (slow) divergence.
constexpr double raised = 2;
/// Rounding residue of an objective of 0, per sample.
constexpr double negligible = 1e-6;

std::string size_text(double loss) { return std::isfinite(loss) ? fmt::format("{:.3g}", loss) : "a non-finite value"; }

/// Returns whether f is linear in the trained weights: a single layer, or an output layer above frozen ones.
bool linear_in_weights(const Architecture& architecture) {
  const auto& slots = architecture.slots;
  if (slots.size() == 1) return true;
  const auto trained = std::count_if(slots.begin(), slots.end(), [](const WeightSlot& slot) { return slot.trained; });
  const auto& last = architecture.stages.back().layer.value;
  const bool readout = std::holds_alternative<Dense>(last) || std::holds_alternative<Conv>(last);
  return trained == 1 && slots.back().trained && readout;
}

/// Root mean square of ‖l'‖ at outputs 0, over the samples.
double first_slope(const Loss& loss, MatrixView<const double> targets) {
  const std::vector<double> zero(usize(targets.cols));
  std::vector<double> slopes(usize(targets.cols));
  double sum = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    loss_slopes(loss, zero, {targets.row(i), usize(targets.cols)}, slopes);
    sum += std::inner_product(slopes.begin(), slopes.end(), slopes.begin(), 0.0);
  }
  return std::sqrt(sum / static_cast<double>(targets.rows));
}

}  // namespace

/// The auxiliary outputs add λ to the kernel.
template <std::floating_point T>
RateProblem Trainer<T>::rate_problem() const {
  const bool linear = options_.linearised || linear_in_weights(architecture_);
  const double ridge = options_.regulariser == Regulariser::aux ? largest_curvature(options_.loss.kind).value_or(1) : 1;
  const bool regularised = options_.regulariser != Regulariser::none;
  return {.loss = options_.loss,
          .lambda = (regularised ? ridge * options_.lambda : 0) + options_.optimiser.weight_decay,
          .batch = options_.batch,
          .slope = linear ? 0 : first_slope(options_.loss, targets_),
          .progress = options_.progress};
}

template <std::floating_point T>
double Trainer<T>::default_learning_rate() const {
  if (options_.optimiser.adaptive()) return adaptive_rate(architecture_);
  return default_rate(architecture_, options_.linearised ? start_ : w_, x_, rate_problem(), engine_);
}

/// For steps proportional to the gradient, the tangent kernel gives the largest stable rate.
template <std::floating_point T>
std::string Trainer<T>::rate_advice() const {
  if (options_.optimiser.adaptive()) return "a smaller learning rate";
  const auto stable = stable_rate(architecture_, start_, x_, rate_problem(), engine_);
  return stable && *stable < summary_.rate ? fmt::format("a smaller learning rate, about {:.2g} at most", *stable)
                                           : "a smaller learning rate";
}

template <std::floating_point T>
bool Trainer<T>::diverged() {
  if (at_start()) {
    first_loss_ = batch_values_.loss;
    if (std::isfinite(first_loss_)) return false;
  }
  if (batch_values_.loss <= divergence_factor * (first_loss_ + static_cast<double>(samples_))) return false;
  summary_.ending = TrainEnding::diverged;
  if (at_start()) {
    summary_.message = "the loss of the untrained network is not finite; scale the samples down";
    return true;
  }
  summary_.message = fmt::format("the loss rose from {:.3g} to {} in {} steps of size {:.3g}; choose {}", first_loss_,
                                 size_text(batch_values_.loss), summary_.steps, summary_.rate, rate_advice());
  return true;
}

template <std::floating_point T>
bool Trainer<T>::constant_outputs(const Matrix<double>& outputs) const {
  if (samples_ < 2) return false;
  const double rounding = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (Index k = 0; k < outputs_; ++k) {
    const double first = outputs(0, k) + base_[usize(k)];
    for (Index i = 1; i < samples_; ++i) {
      const double base = base_[usize(i * outputs_ + k)];
      const double size = std::abs(outputs(i, k)) + std::abs(base) + std::abs(first);
      if (std::abs(outputs(i, k) + base - first) > rounding * size) return false;
    }
  }
  return true;
}

template <std::floating_point T>
bool Trainer<T>::targets_differ() const {
  for (Index i = 1; i < samples_; ++i) {
    if (!std::equal(targets_.row(i), targets_.row(i) + outputs_, targets_.row(0))) return true;
  }
  return false;
}

/// A network that can leave a dead state, by a penalty on the distance to the initial weights, momentum or weight
/// decay, is judged only at the end.
template <std::floating_point T>
bool Trainer<T>::died(bool last) {
  if (at_start() || record_.loss.back() <= 0 || !constant_) return false;
  const bool regularised = options_.lambda > 0 && options_.regulariser != Regulariser::none;
  if (!last && (regularised || options_.optimiser.drifts())) return false;
  if (!targets_differ()) return false;
  const std::string layer = dead_layer(architecture_, options_.linearised ? start_ : w_, x_, engine_);
  if (layer.empty()) return false;
  summary_.ending = TrainEnding::dead;
  const bool at_start = !dead_layer(architecture_, start_, x_, engine_).empty();
  summary_.message =
      fmt::format("{} {}, so that outputs are constant and no gradient is left; choose {}", layer,
                  at_start ? std::string("at initialisation") : fmt::format("after {} steps", summary_.steps),
                  at_start ? "a greater width, another seed or activation, or scale the samples"
                           : rate_advice() + ", a greater width or another activation");
  return true;
}

/// Checks at the end of a training whether it decreased its objective.
template <std::floating_point T>
void Trainer<T>::check_end() {
  if (record_.objective.empty() || at_start() || died(true)) return;
  const double first = first_objective_;
  const double now = record_.objective.back();
  if (now <= raised * first + negligible * static_cast<double>(samples_)) return;
  summary_.ending = TrainEnding::diverged;
  summary_.message = fmt::format("the objective rose from {:.3g} to {} in {} steps of size {:.3g}; choose {}", first,
                                 size_text(now), summary_.steps, summary_.rate, rate_advice());
}

template RateProblem Trainer<float>::rate_problem() const;
template RateProblem Trainer<double>::rate_problem() const;
template double Trainer<float>::default_learning_rate() const;
template double Trainer<double>::default_learning_rate() const;
template bool Trainer<float>::diverged();
template bool Trainer<double>::diverged();
template bool Trainer<float>::died(bool);
template bool Trainer<double>::died(bool);
template void Trainer<float>::check_end();
template void Trainer<double>::check_end();
template bool Trainer<float>::constant_outputs(const Matrix<double>&) const;
template bool Trainer<double>::constant_outputs(const Matrix<double>&) const;

}  // namespace widelimit
