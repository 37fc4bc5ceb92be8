#include "widelimit/certificate/ball.hpp"

#include "widelimit/base/choice.hpp"

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> norm_names{"linf", "l2"};

}  // namespace

std::string_view to_string(Norm norm) { return norm_names[static_cast<std::size_t>(norm)]; }
Norm parse_norm(std::string_view text) { return parse_choice<Norm>("norm", norm_names, text); }

Box::Box(std::vector<double> low, std::vector<double> high) : low_(std::move(low)), high_(std::move(high)) {
  if (low_.size() != high_.size() || low_.empty()) {
    fail(Code::usage, "a box with {} lower and {} upper bounds; give one of both for each feature", low_.size(),
         high_.size());
  }
}

}  // namespace widelimit
