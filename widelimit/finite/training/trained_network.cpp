#include "widelimit/finite/training/trained_network.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/finite/training/evaluator.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 5> regulariser_names{"none", "output", "weights", "init", "aux"};
constexpr std::array<std::string_view, 5> regulariser_words{
    "none, only the losses",
    "norm of the output layer, its scaled weights trained (decays f at rate λ)",
    "norm of the output layer, its unscaled weights trained (decays f at rate λ/m)",
    "distance of all weights to initialisation (its limit is the machine)",
    "an auxiliary output √λ·b at each sample, trained with the weights",
};

/// Number of samples per batch, which bounds the memory.
constexpr Index predicted_samples = 512;

template <std::floating_point T>
Matrix<double> outputs_of(const TrainedNetwork& trained, const Parameters<T>& w, const SampleView& x,
                          const Engine& engine, Progress* progress) {
  const auto& start = std::get<Parameters<T>>(trained.start);
  require_match(trained.architecture, w);
  Evaluator<T> evaluator(trained.architecture, trained.linearised ? &start : nullptr, engine, progress);
  const Index outputs = trained.architecture.output.size();
  Matrix<double> result(x.count(), outputs);
  ProgressTicker ticker(progress, x.count(), "samples");
  for (Index first = 0; first < x.count(); first += predicted_samples) {
    const Index count = std::min(predicted_samples, x.count() - first);
    const Tensor<T> part = read_samples<T>(x.part(first, count), trained.architecture.input);
    const auto add = [&](const Parameters<T>& weights, double sign) {
      evaluator.set_samples(part, 0, count);
      const Tensor<T>& f = evaluator.outputs(weights);
      for (Index i = 0; i < f.size(); ++i) result.data()[first * outputs + i] += sign * static_cast<double>(f[i]);
    };
    add(w, 1.0);
    if (trained.centred) add(start, -1.0);
    ticker.at(first + count);
  }
  for (Index i = 0; i < result.rows() * outputs; ++i) {
    if (!std::isfinite(result.data()[i])) {
      fail(Code::numerical, "the output at sample {} overflows; scale the samples down", i / outputs);
    }
  }
  return result;
}

}  // namespace

std::string_view to_string(Regulariser regulariser) { return regulariser_names[static_cast<std::size_t>(regulariser)]; }
Regulariser parse_regulariser(std::string_view text) {
  return parse_choice<Regulariser>("regulariser", regulariser_names, text);
}
std::string_view words(Regulariser regulariser) { return regulariser_words[static_cast<std::size_t>(regulariser)]; }

const char* text(TrainEnding ending) {
  switch (ending) {
    case TrainEnding::finished:
      return "finished";
    case TrainEnding::diverged:
      return "diverged";
    case TrainEnding::step_limit:
      return "step limit";
    case TrainEnding::dead:
      return "dead";
  }
  return "";
}

Architecture trained_architecture(const Network& network, const Shape& input, const Widths& widths,
                                  Regulariser regulariser) {
  Architecture architecture = Architecture::make(network, input, widths);
  if (regulariser == Regulariser::output || regulariser == Regulariser::weights) {
    const auto& last = architecture.stages.back().layer.value;
    if (!std::holds_alternative<Dense>(last) && !std::holds_alternative<Conv>(last)) {
      fail(Code::input, "the regulariser '{}' requires a dense output layer, and the network does not end with one",
           to_string(regulariser));
    }
    if (!architecture.slots.back().trained) {
      fail(Code::input,
           "the regulariser '{}' applies to the output layer, which is frozen: its norm is constant; choose the "
           "regulariser 'init', 'aux' or 'none'",
           to_string(regulariser));
    }
    if (regulariser == Regulariser::output) architecture.slots.back().absorb_scales();
  }
  return architecture;
}

Matrix<double> predict_outputs(const TrainedNetwork& trained, const SampleView& x, const Engine& engine,
                               Progress* progress) {
  const Interruptible interruptible(progress);
  // A vector of the same size is interpreted as the image, row by row; images of another shape are rejected.
  const bool shapes_match = x.shape == trained.shape || x.shape.is_vector() || trained.shape.is_vector();
  if (!shapes_match || x.shape.size() != trained.shape.size()) {
    fail(Code::input, "samples of shape {}; the network was trained on {}", to_string(x.shape),
         to_string(trained.shape));
  }
  return std::visit([&](const auto& w) { return outputs_of(trained, w, x, engine, progress); }, trained.parameters);
}

}  // namespace widelimit
