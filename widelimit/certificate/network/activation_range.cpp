#include "widelimit/certificate/network/activation_range.hpp"

#include "widelimit/engine/enclosure/activation_range.hpp"

namespace widelimit {

bool has_range(Phi phi) { return phi != Phi::hermite && phi != Phi::polynomial && phi != Phi::custom; }

Interval activation_range(const Activation& activation, const Interval& x) {
  return activation_range(scalar_function(activation).value(), x);
}

void enclose_activation(const Activation& activation, Enclosure& values, const Engine& engine) {
  enclosures_of(engine)->activate(scalar_function(activation).value(), values.centre.size(), values.update(engine));
}

}  // namespace widelimit
