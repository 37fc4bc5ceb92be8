#include "widelimit/network/layer.hpp"

namespace widelimit {

std::string_view to_string(Padding padding) {
  switch (padding) {
    case Padding::same:
      return "SAME";
    case Padding::valid:
      return "VALID";
    case Padding::circular:
      return "CIRCULAR";
  }
  return "";
}

// Defined here and not in the header, so that they are compiled once.
bool Residual::operator==(const Residual&) const = default;
bool Layer::operator==(const Layer&) const = default;

std::string_view to_string(NodeScale scale) { return scale == NodeScale::degree ? "degree" : "uniform"; }

}  // namespace widelimit
