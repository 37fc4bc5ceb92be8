#include "widelimit/finite/training/optimiser.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"

#include <array>
#include <cmath>

namespace widelimit {

namespace {
constexpr std::array<std::string_view, 4> optimiser_names{"sgd", "nesterov", "adam", "adamw"};
}  // namespace

std::string_view to_string(OptimiserKind kind) { return optimiser_names[static_cast<std::size_t>(kind)]; }
OptimiserKind parse_optimiser(std::string_view text) {
  return parse_choice<OptimiserKind>("optimiser", optimiser_names, text);
}

void Optimiser::validate() const {
  const auto share = [](const char* what, double value) {
    if (!(value >= 0 && value < 1)) fail(Code::usage, "{} = {:g}: it must be at least 0 and below 1", what, value);
  };
  share("momentum", momentum);
  share("beta1", beta1);
  share("beta2", beta2);
  if (!(std::isfinite(epsilon) && epsilon > 0)) {
    fail(Code::usage, "Adam's epsilon = {:g}: it must be a positive number", epsilon);
  }
  if (!(std::isfinite(weight_decay) && weight_decay >= 0)) {
    fail(Code::usage, "weight decay = {:g}: it must be 0 or a positive number", weight_decay);
  }
  if (adaptive() && momentum > 0) {
    fail(Code::usage, "{} uses beta1 instead of momentum; leave out momentum", to_string(kind));
  }
  if (kind == OptimiserKind::nesterov && momentum == 0) {
    fail(Code::usage, "nesterov without momentum is plain gradient descent; choose a momentum, such as 0.9");
  }
}

}  // namespace widelimit
