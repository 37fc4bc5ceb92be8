#include "widelimit/engine/layers.hpp"

#include "widelimit/engine/layered_engine.hpp"

namespace widelimit {

namespace {

const EngineLayers& all_of(const Engine& engine) {
  static const EngineLayers none;
  const auto* layered = dynamic_cast<const LayeredEngine*>(&engine);
  return layered != nullptr ? layered->layers() : none;
}

}  // namespace

template <>
const std::shared_ptr<LayerPasses<float>>& layers_of<float>(const Engine& engine) {
  return all_of(engine).f32;
}

template <>
const std::shared_ptr<LayerPasses<double>>& layers_of<double>(const Engine& engine) {
  return all_of(engine).f64;
}

}  // namespace widelimit
