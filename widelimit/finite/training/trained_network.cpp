#include "widelimit/finite/training/trained_network.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

const char* text(TrainEnding ending) {
  switch (ending) {
    case TrainEnding::finished:
      return "finished";
    case TrainEnding::diverged:
      return "diverged";
    case TrainEnding::step_limit:
      return "step limit";
  }
  return "";
}

Architecture trained_architecture(const Network& network, const Shape& input, const Widths& widths,
                                  Regulariser regulariser) {
  Architecture architecture = Architecture::make(network, input, widths);
  if (regulariser == Regulariser::output || regulariser == Regulariser::weights) {
    const auto& last = architecture.stages.back().layer.value;
    if (!std::holds_alternative<Dense>(last) && !std::holds_alternative<Conv>(last)) {
      fail(Code::input, "the regulariser '{}' is of the output layer, and the network does not end with a dense layer",
           to_string(regulariser));
    }
    if (regulariser == Regulariser::output) architecture.slots.back().absorb_scales();
  }
  return architecture;
}

}  // namespace widelimit
