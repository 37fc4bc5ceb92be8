#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/layers.hpp"

namespace widelimit {

/// An engine that also runs finite networks in its own memory. Other engines use host memory or copies in it.
class LayeredEngine : public Engine {
 public:
  [[nodiscard]] virtual const EngineLayers& layers() const = 0;
};

}  // namespace widelimit
