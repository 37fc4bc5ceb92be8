#include "widelimit/finite/training/train_record.hpp"
#include "widelimit/finite/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace widelimit {

namespace {

constexpr double shortest_share = 1e-12;  ///< shortest step relative to the whole time
constexpr double least_change = 0.2;
constexpr double most_change = 4.0;

/// Returns the largest difference of outputs relative to 1 + the largest of them; infinite if any is not finite.
double relative_change(const Matrix<double>& a, const std::vector<double>& b) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double value = a.data()[i];
    if (!std::isfinite(value) || !std::isfinite(b[i])) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::fabs(value - b[i]));
    largest = std::max(largest, std::fabs(value));
  }
  return difference / (1 + largest);
}

template <std::floating_point T>
void mean_into(std::span<T> to, std::span<const T> other) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = (to[i] + other[i]) / T{2};
}

template <std::floating_point T>
void mean_into(Values<T>& to, const Values<T>& other, const Engine& engine) {
  const auto& layers = layers_of<T>(engine);
  if (!layers) return mean_into<T>(std::span(to.data(), to.size()), std::span(other.data(), other.size()));
  T* const mean = to.update(layers);
  layers->combine(T{0.5}, mean, T{0.5}, other.read(layers), std::ssize(to), mean);
}

}  // namespace

template <std::floating_point T>
void Trainer<T>::save_state() {
  before_ = w_;
  aux_before_ = aux_;
}

template <std::floating_point T>
void Trainer<T>::restore_state() {
  w_ = before_;
  aux_ = aux_before_;
}

template <std::floating_point T>
void Trainer<T>::average_with_state() {
  for (std::size_t l = 0; l < w_.slots.size(); ++l) {
    mean_into(w_.slots[l].w, before_.slots[l].w, engine_);
    mean_into(w_.slots[l].b, before_.slots[l].b, engine_);
  }
  mean_into<double>(aux_, aux_before_);
}

/// Heun's method of second order: two gradient steps from w, and the mean of their end and w. The difference of the
/// outputs on the training samples to the first step alone (Euler's method) is the error estimate. A step costs two
/// gradients, and a third if it is rejected.
template <std::floating_point T>
void Trainer<T>::flow() {
  evaluator_.set_samples(x_, 0, samples_);
  RecordSchedule schedule(options_.flow_time, bounded_records(options_.records, recorded_numbers()));
  ProgressTicker ticker(options_.progress, 1000, "thousandths of the time");
  double size = std::min(summary_.rate, options_.flow_time);
  evaluate_batch(all_, {});
  for (Index tries = 0;; ++tries) {
    if (diverged()) return;
    if (schedule.due(summary_.time)) {
      record();
      if (!schedule.done() && died(false)) return;
    }
    if (schedule.done()) return check_end();
    if (tries == options_.steps || size < shortest_share * options_.flow_time) {
      summary_.ending = TrainEnding::step_limit;
      summary_.message = fmt::format(
          "the flow reached time {:.4g} of {:g} in {} steps; allow more steps or a larger "
          "tolerance than {:g}",
          summary_.time, options_.flow_time, tries, options_.tolerance);
      record();
      return;
    }
    const double to_record = schedule.next() - summary_.time;
    const double taken = std::min(size, to_record);
    observe(all_, taken);
    save_state();
    step(all_, taken);
    evaluate_batch(all_, {});
    const std::vector<double> euler(batch_values_.outputs.data(), batch_values_.outputs.data() + samples_ * outputs_);
    step(all_, taken);
    average_with_state();
    evaluate_batch(all_, {});
    const double error = relative_change(batch_values_.outputs, euler);
    const double change =
        std::clamp(0.9 * std::sqrt(options_.tolerance / std::max(error, 1e-300)), least_change, most_change);
    if (error <= options_.tolerance) {
      summary_.time = taken == to_record ? schedule.next() : summary_.time + taken;
      ++summary_.steps;
      if (taken == size || change < 1) size = taken * change;
    } else {
      restore_state();
      evaluate_batch(all_, {});
      size = taken * change;
    }
    ticker.at(static_cast<std::int64_t>(1000 * summary_.time / options_.flow_time));
  }
}

template void Trainer<float>::flow();
template void Trainer<double>::flow();
template void Trainer<float>::save_state();
template void Trainer<double>::save_state();
template void Trainer<float>::restore_state();
template void Trainer<double>::restore_state();
template void Trainer<float>::average_with_state();
template void Trainer<double>::average_with_state();

}  // namespace widelimit
