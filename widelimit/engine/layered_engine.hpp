#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/layers.hpp"

namespace widelimit {

/// An engine with a third seam: networks of finite width live in its memory. Engines without it work in host memory,
/// or on copies of it.
class LayeredEngine : public Engine {
 public:
  [[nodiscard]] virtual const EngineLayers& layers() const = 0;
};

}  // namespace widelimit
