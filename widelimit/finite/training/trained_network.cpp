#include "widelimit/finite/training/trained_network.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"

#include <array>

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

}  // namespace widelimit
