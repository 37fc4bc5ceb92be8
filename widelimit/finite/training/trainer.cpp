#include "widelimit/finite/training/trainer.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/training/stable_rate.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/weight_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// Samples per batch of an evaluation outside the step.
constexpr Index record_block = 512;
constexpr double infinity = std::numeric_limits<double>::infinity();

bool all_finite(const Matrix<double>& outputs) {
  return std::all_of(outputs.data(), outputs.data() + outputs.rows() * outputs.cols(),
                     [](double f) { return std::isfinite(f); });
}

double l2_coefficient(Regulariser regulariser, double lambda, const WeightSlot& slot, bool last) {
  switch (regulariser) {
    case Regulariser::init:
      return lambda;
    case Regulariser::output:
      return last ? lambda : 0.0;
    case Regulariser::weights:
      return last ? lambda * slot.w_scale * slot.w_scale : 0.0;
    case Regulariser::none:
    case Regulariser::aux:
      break;
  }
  return 0.0;
}

}  // namespace

template <std::floating_point T>
Trainer<T>::Trainer(const Architecture& architecture, const TrainData& data, const TrainOptions& options,
                    const Engine& engine)
    : architecture_(architecture),
      options_(options),
      targets_(data.y),
      test_targets_(data.test_y),
      engine_(engine),
      samples_(data.x.count()),
      outputs_(architecture.output.size()),
      x_(read_samples<T>(data.x, architecture.input)),
      start_(options.initial != nullptr ? std::get<Parameters<T>>(*options.initial)
                                        : draw_parameters<T>(architecture, options.seed, engine)),
      w_(start_),
      evaluator_(architecture, options.linearised ? &start_ : nullptr, engine, options.progress),
      record_evaluator_(architecture, options.linearised ? &start_ : nullptr, engine, options.progress),
      base_(static_cast<std::size_t>(samples_ * outputs_)),
      all_(static_cast<std::size_t>(samples_)) {
  std::iota(all_.begin(), all_.end(), Index{0});
  if (data.test) test_ = read_samples<T>(*data.test, architecture.input);
  test_base_.resize(static_cast<std::size_t>(test_.count() * outputs_));
  if (options.optimiser.moments() > 0) velocity_ = zero_parameters<T>(architecture);
  if (options.optimiser.moments() > 1) squares_ = zero_parameters<T>(architecture);
  if (options.regulariser == Regulariser::aux) {
    aux_.resize(base_.size());
    aux_velocity_.resize(base_.size());
  }
  if (options.centred) {
    const auto base_of = [&](const Tensor<T>& x, std::vector<double>& base) {
      const Matrix<double> outputs = evaluate(x, base);
      std::copy_n(outputs.data(), base.size(), base.begin());
    };
    base_of(x_, base_);
    base_of(test_, test_base_);
  }
  summary_.weights = trained_count(architecture);
  summary_.steps = options.initial_step;
  if (options.from != nullptr) resume(*options.from);
  if (options.rate) {
    summary_.rate = *options.rate;
  } else {
    summary_.rate =
        options.from != nullptr && options.from->state ? options.from->summary.rate : default_learning_rate();
  }
}

template <std::floating_point T>
Matrix<double> Trainer<T>::evaluate(const Tensor<T>& x, const std::vector<double>& base) {
  Matrix<double> outputs(x.count(), outputs_);
  for (Index first = 0; first < x.count(); first += record_block) {
    const Index count = std::min(record_block, x.count() - first);
    record_evaluator_.set_samples(x, first, count);
    const T* const part = record_evaluator_.outputs(w_).data();
    for (Index i = 0; i < count * outputs_; ++i) {
      const Index at = first * outputs_ + i;
      outputs.data()[at] = static_cast<double>(part[i]) - base[static_cast<std::size_t>(at)];
    }
  }
  return outputs;
}

/// Infinite if an output is not finite: a margin loss of an overflowed output can be 0.
template <std::floating_point T>
double Trainer<T>::loss_of(const Matrix<double>& outputs, MatrixView<const double> targets) const {
  if (!all_finite(outputs)) return infinity;
  double sum = 0;
  const auto size = static_cast<std::size_t>(outputs_);
  for (Index i = 0; i < outputs.rows(); ++i) {
    sum += loss_value(options_.loss, {outputs.view().row(i), size}, {targets.row(i), size});
  }
  return sum;
}

/// Computes z and l' of the batch, and n/|B| times its loss; infinite if an output is not finite, as in loss_of.
template <std::floating_point T>
void Trainer<T>::evaluate_batch(std::span<const Index> batch, const std::optional<DropoutDraw>& dropout) {
  const Tensor<T>& f = evaluator_.outputs(w_, dropout);
  const auto size = static_cast<std::size_t>(outputs_);
  if (batch_values_.outputs.rows() != std::ssize(batch)) {
    batch_values_.outputs = Matrix<double>(std::ssize(batch), outputs_);
    batch_values_.slopes = Matrix<double>(std::ssize(batch), outputs_);
  }
  const double auxiliary = std::sqrt(options_.lambda);
  std::vector<double>& z = shifted_;
  z.resize(size);
  batch_values_.loss = 0;
  for (Index i = 0; i < f.count(); ++i) {
    const Index sample = batch[static_cast<std::size_t>(i)];
    for (Index k = 0; k < outputs_; ++k) {
      const auto at = static_cast<std::size_t>(sample * outputs_ + k);
      const double value = static_cast<double>(f.sample(i)[k]) - base_[at];
      batch_values_.outputs(i, k) = value;
      z[static_cast<std::size_t>(k)] = aux_.empty() ? value : value + auxiliary * aux_[at];
    }
    const std::span<const double> y(targets_.row(sample), size);
    batch_values_.loss += loss_value(options_.loss, z, y);
    loss_slopes(options_.loss, z, y, {batch_values_.slopes.view().row(i), size});
  }
  batch_values_.loss *= static_cast<double>(samples_) / static_cast<double>(std::max<Index>(f.count(), 1));
  if (!all_finite(batch_values_.outputs)) batch_values_.loss = infinity;
}

template <std::floating_point T>
void Trainer<T>::observe(std::span<const Index> batch, double rate) const {
  if (!options_.observer) return;
  options_.observer({.step = summary_.steps,
                     .time = summary_.time,
                     .rate = rate,
                     .batch = batch,
                     .weight = static_cast<double>(samples_) / static_cast<double>(batch.size()),
                     .outputs = batch_values_.outputs.view(),
                     .slopes = batch_values_.slopes.view(),
                     .parameters = &w_,
                     .architecture = &architecture_});
}

template <std::floating_point T>
void Trainer<T>::step(std::span<const Index> batch, double rate) {
  const double weight = static_cast<double>(samples_) / static_cast<double>(batch.size());
  Tensor<T>& signal = evaluator_.signal();
  T* const slopes = signal.data();
  for (Index i = 0; i < signal.size(); ++i) slopes[i] = static_cast<T>(weight * batch_values_.slopes.data()[i]);
  const Gradient<T>& gradient = evaluator_.gradient(w_);
  const int moments = options_.optimiser.moments();
  for (std::size_t l = 0; l < w_.slots.size(); ++l) {
    const WeightSlot& slot = architecture_.slots[l];
    if (!slot.trained) continue;
    const double l2 = l2_coefficient(options_.regulariser, options_.lambda, slot, l + 1 == w_.slots.size());
    const SlotStep<T> how{.rate = rate,
                          .l2 = l2,
                          .anchor = options_.regulariser == Regulariser::init && l2 != 0 ? &start_.slots[l] : nullptr,
                          .optimiser = options_.optimiser,
                          .steps = summary_.steps - options_.initial_step,
                          .velocity = moments > 0 ? &velocity_.slots[l] : nullptr,
                          .squares = moments > 1 ? &squares_.slots[l] : nullptr,
                          .scratch = &scratch_};
    step_slot(slot, gradient.slots[l], how, engine_, w_.slots[l]);
  }
  const double auxiliary = std::sqrt(options_.lambda) * weight * rate;
  for (std::size_t i = 0; !aux_.empty() && i < batch.size(); ++i) {
    for (Index k = 0; k < outputs_; ++k) {
      const auto at = static_cast<std::size_t>(batch[i] * outputs_ + k);
      const double coasting = options_.optimiser.momentum * aux_velocity_[at];
      aux_velocity_[at] = coasting - auxiliary * batch_values_.slopes(static_cast<Index>(i), k);
      aux_[at] += aux_velocity_[at];
    }
  }
}

template <std::floating_point T>
double Trainer<T>::penalty() const {
  double sum = 0;
  if (options_.lambda == 0 || options_.regulariser == Regulariser::none || options_.regulariser == Regulariser::aux) {
    return sum;
  }
  if (options_.regulariser == Regulariser::init) {
    const double distance = record_.distance.back();
    return options_.lambda / 2 * distance * distance;
  }
  const auto squares = [](const Values<T>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0,
                           [](double s, T v) { return s + static_cast<double>(v) * static_cast<double>(v); });
  };
  const double l2 = l2_coefficient(options_.regulariser, options_.lambda, architecture_.slots.back(), true);
  return l2 / 2 * (squares(w_.slots.back().w) + squares(w_.slots.back().b));
}

template <std::floating_point T>
void Trainer<T>::record() {
  // The outputs of a full batch without masks and augmentation are already available.
  const bool available =
      batch_values_.outputs.rows() == samples_ && architecture_.dropouts == 0 && !options_.augmentation.any();
  Matrix<double> fresh;
  if (!available) fresh = evaluate(x_, base_);
  const Matrix<double>& outputs = available ? batch_values_.outputs : fresh;
  constant_ = constant_outputs(outputs);
  record_.steps.push_back(summary_.steps);
  record_.times.push_back(summary_.time);
  record_.loss.push_back(loss_of(outputs, targets_));
  record_.distance.push_back(std::sqrt(squared_distance(w_, start_, engine_)));
  record_.objective.push_back((aux_.empty() ? record_.loss.back() : batch_values_.loss) + penalty());
  if (at_start()) first_objective_ = record_.objective.back();
  if (const auto right = accuracy_of(outputs.view(), targets_)) record_.accuracy.push_back(*right);
  if (options_.record_outputs) {
    record_.outputs.insert(record_.outputs.end(), outputs.data(), outputs.data() + samples_ * outputs_);
  }
  if (test_.count() > 0) record_test();
}

template <std::floating_point T>
void Trainer<T>::record_test() {
  const Matrix<double> outputs = evaluate(test_, test_base_);
  if (options_.record_outputs) {
    record_.test_outputs.insert(record_.test_outputs.end(), outputs.data(), outputs.data() + test_.count() * outputs_);
  }
  if (test_targets_.rows == 0) return;
  record_.test_loss.push_back(loss_of(outputs, test_targets_));
  if (const auto right = accuracy_of(outputs.view(), test_targets_)) record_.test_accuracy.push_back(*right);
}

template <std::floating_point T>
void Trainer<T>::descend(TrainedNetwork& trained) {
  try {
    take_steps(trained);
  } catch (const Error& error) {
    if (error.code() != Code::interrupted) throw;
    fail(Code::interrupted, "stopped after {} of {} steps", summary_.steps, options_.steps);
  }
}

template <std::floating_point T>
void Trainer<T>::take_steps(TrainedNetwork& trained) {
  Batches batches(samples_, options_.batch, options_.seed);
  RecordSchedule schedule = record_schedule(options_, recorded_numbers());
  const Random masks(options_.seed, dropout_seed_stream);
  ProgressTicker ticker(options_.progress, options_.steps, "steps");
  const bool augmented = options_.augmentation.any();
  if (batches.full()) evaluator_.set_samples(x_, 0, samples_);
  for (;; ++summary_.steps) {
    const std::vector<Index>& batch = batches.of(std::min(summary_.steps, std::max<Index>(options_.steps - 1, 0)));
    if (!batches.full() || augmented) evaluator_.set_samples(x_, batch);
    if (augmented) augment(options_.augmentation, options_.seed, summary_.steps, evaluator_.samples(), engine_);
    std::optional<DropoutDraw> dropout;
    if (architecture_.dropouts > 0) {
      dropout = DropoutDraw{masks.bits(static_cast<std::uint64_t>(summary_.steps)), 0};
    }
    evaluate_batch(batch, dropout);
    if (diverged()) return;
    if (checkpoint_due()) checkpoint(trained);
    const bool last = summary_.steps == options_.steps;
    if (options_.keep_record && schedule.due(static_cast<double>(summary_.steps))) {
      record();
      if (!last && died(false)) return;
    }
    if (last) return check_end();
    const double rate = summary_.rate * options_.schedule.share(summary_.steps, options_.steps);
    observe(batch, rate);
    step(batch, rate);
    summary_.time += rate;
    ticker.at(summary_.steps + 1);
  }
}

template <std::floating_point T>
Index Trainer<T>::recorded_numbers() const {
  return options_.record_outputs ? (samples_ + test_.count()) * outputs_ : 1;
}

template <std::floating_point T>
void Trainer<T>::finish(TrainedNetwork& trained) {
  const auto finite = [](const Values<T>& values) {
    return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
  };
  const bool usable = std::all_of(w_.slots.begin(), w_.slots.end(),
                                  [&](const Weights<T>& slot) { return finite(slot.w) && finite(slot.b); });
  if (!usable) {
    w_ = start_;
    summary_.message += "; the weights are reset to the initial ones";
  }
  if (options_.checkpoint && options_.flow_time == 0 && summary_.finished()) checkpoint(trained);
  w_.move_to_host();
  start_.move_to_host();
  export_state(trained, false);
  trained.record = std::move(record_);
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace widelimit
