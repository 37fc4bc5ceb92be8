#include "widelimit/engine/cones.hpp"

namespace widelimit {

const Cones* cones_of(const Engine& engine) {
  const auto* own = dynamic_cast<const ConeEngine*>(&engine);
  return own != nullptr ? &own->cones() : nullptr;
}

}  // namespace widelimit
