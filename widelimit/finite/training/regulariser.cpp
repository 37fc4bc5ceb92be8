#include "widelimit/finite/training/regulariser.hpp"

#include "widelimit/base/choice.hpp"

#include <array>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 5> regulariser_names{"none", "output", "weights", "init", "aux"};
constexpr std::array<std::string_view, 5> regulariser_words{
    "nothing but the losses",
    "size of the output layer, its scaled weights trained (decays f by λ)",
    "size of the output layer, its unscaled weights trained (decays f by λ/m)",
    "distance of all weights to initialisation (its limit is the machine)",
    "an auxiliary output √λ·b at each sample, trained with the weights",
};

}  // namespace

std::string_view to_string(Regulariser regulariser) { return regulariser_names[static_cast<std::size_t>(regulariser)]; }
Regulariser parse_regulariser(std::string_view text) {
  return parse_choice<Regulariser>("regulariser", regulariser_names, text);
}
std::string_view words(Regulariser regulariser) { return regulariser_words[static_cast<std::size_t>(regulariser)]; }

}  // namespace widelimit
