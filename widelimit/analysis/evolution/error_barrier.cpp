#include "widelimit/analysis/evolution/error_barrier.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace widelimit {

namespace {

constexpr Index most_points = 1001;

/// Returns α·w₁ + (1−α)·w₂.
template <std::floating_point T>
Parameters<T> between(const Parameters<T>& first, const Parameters<T>& second, double alpha) {
  Parameters<T> result = first;
  const auto mix = [&](std::span<const T> other, std::span<T> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = static_cast<T>(alpha * static_cast<double>(to[i]) + (1 - alpha) * static_cast<double>(other[i]));
    }
  };
  for (std::size_t l = 0; l < result.slots.size(); ++l) {
    mix(second.slots[l].w, result.slots[l].w);
    mix(second.slots[l].b, result.slots[l].b);
  }
  return result;
}

/// Returns a copy of the network with other weights.
TrainedNetwork at_weights(const TrainedNetwork& network, AnyParameters weights) {
  TrainedNetwork other = network;
  other.parameters = std::move(weights);
  return other;
}

void finish(BarrierCurve& curve) {
  const double last = curve.errors.back();    // α = 1: the first child
  const double first = curve.errors.front();  // α = 0: the second
  for (std::size_t k = 0; k < curve.alphas.size(); ++k) {
    const double line = curve.alphas[k] * last + (1 - curve.alphas[k]) * first;
    curve.barrier = std::max(curve.barrier, curve.errors[k] - line);
  }
}

}  // namespace

void BarrierOptions::validate() const {
  if (points < 3 || points > most_points) {
    fail(Code::usage, "the number of points between two networks is {}; choose 3 to {}", points, most_points);
  }
}

double prediction_error(MatrixView<const double> outputs, MatrixView<const double> targets, const Loss& loss) {
  if (const std::optional<double> right = accuracy_of(outputs, targets)) return 1 - *right;
  double sum = 0;
  for (Index i = 0; i < outputs.rows; ++i) {
    sum += loss_value(loss, {outputs.row(i), usize(outputs.cols)}, {targets.row(i), usize(targets.cols)});
  }
  return sum / static_cast<double>(std::max<Index>(outputs.rows, 1));
}

ErrorBarrier error_barrier(const TrainedNetwork& first, const TrainedNetwork& second, const TrainData& data,
                           const Loss& loss, const BarrierOptions& options, const Engine& engine, Progress* progress) {
  const Interruptible interruptible(progress);
  options.validate();
  if (!(first.network == second.network) || !(first.widths == second.widths) ||
      first.precision() != second.precision()) {
    fail(Code::usage, "an error barrier needs two networks of the same architecture, widths and precision");
  }
  const bool tested = data.test && data.test_y.rows > 0;
  ErrorBarrier result;
  if (tested) result.test.emplace();
  std::visit(
      [&]<typename T>(const Parameters<T>& w1) {
        const auto& w2 = std::get<Parameters<T>>(second.parameters);
        result.apart = std::sqrt(squared_distance(w1, w2, engine));
        for (Index k = 0; k < options.points; ++k) {
          const double alpha = static_cast<double>(k) / static_cast<double>(options.points - 1);
          const TrainedNetwork there = at_weights(first, between(w1, w2, alpha));
          const auto add = [&](BarrierCurve& curve, const SampleView& x, MatrixView<const double> y) {
            curve.alphas.push_back(alpha);
            curve.errors.push_back(prediction_error(predict_outputs(there, x, engine, progress).view(), y, loss));
          };
          add(result.train, data.x, data.y);
          if (tested) add(*result.test, *data.test, data.test_y);
        }
      },
      first.parameters);
  finish(result.train);
  if (tested) finish(*result.test);
  return result;
}

void require_children(const TrainOptions& options, Index samples) {
  const bool full = options.batch == 0 || options.batch >= samples;
  if (full && !options.augmentation.any()) {
    fail(Code::usage, "children with full batches are identical; choose a batch size, or augmentation");
  }
  if (options.lambda > 0 && options.regulariser == Regulariser::init) {
    fail(Code::usage,
         "children start at a checkpoint, but the regulariser uses the initial weights of the training; choose another "
         "one");
  }
  if (options.centred) fail(Code::usage, "children of f − f₀ would have a different f₀; train f itself");
  if (options.regulariser == Regulariser::aux) {
    fail(Code::usage, "auxiliary outputs cannot be passed to children; choose another regulariser");
  }
}

std::vector<TrainedNetwork> spawn_children(const Network& network, const TrainData& data, const TrainOptions& options,
                                           const AnyParameters& weights, Index step,
                                           std::span<const std::uint64_t> seeds, const Engine& engine) {
  if (!options.linearised) require_children(options, data.x.count());
  TrainOptions child = options;
  child.initial = &weights;
  child.initial_step = step;
  child.observer = {};
  child.checkpoint = {};
  child.record_at = {};
  child.records = 2;
  child.record_outputs = false;
  std::vector<TrainedNetwork> children;
  for (const std::uint64_t seed : seeds) {
    child.seed = seed;
    children.push_back(train(network, data, child, engine));
  }
  return children;
}

}  // namespace widelimit
