#include "widelimit/engine/layers.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/layered_engine.hpp"

#include <algorithm>

namespace widelimit {

namespace {

const EngineLayers& all_of(const Engine& engine) {
  static const EngineLayers none;
  const auto* layered = dynamic_cast<const LayeredEngine*>(&engine);
  return layered != nullptr ? layered->layers() : none;
}

}  // namespace

std::optional<ScalarFunction> scalar_function(const Activation& activation) {
  if (activation.phi == Phi::custom || activation.coef.size() > ScalarFunction::most_coefficients) return std::nullopt;
  ScalarFunction function{.phi = activation.phi,
                          .slope = activation.slope,
                          .gamma = activation.gamma,
                          .degree = activation.degree,
                          .coefficients = static_cast<std::int32_t>(activation.coef.size())};
  std::copy(activation.coef.begin(), activation.coef.end(), function.coef.begin());
  return function;
}

template <>
const std::shared_ptr<LayerPasses<float>>& layers_of<float>(const Engine& engine) {
  return all_of(engine).f32;
}

template <>
const std::shared_ptr<LayerPasses<double>>& layers_of<double>(const Engine& engine) {
  return all_of(engine).f64;
}

void require_layers(const Engine& engine, std::string_view work) {
  if (engine.name() == "cpu" || layers_of<double>(engine) != nullptr) return;
  fail(Code::usage, "{} are computed by the back ends cpu and cuda; choose one of them instead of {}", work,
       engine.name());
}

}  // namespace widelimit
