#pragma once

#include "widelimit/network/value.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Everything a preset can be asked for; each takes some of it.
struct PresetOptions {
  Index depth = 0;
  double w_std = 1.0;
  double b_std = 0.0;
  Extent kernel{3, 3};
  std::string activation = "relu";
  std::string readout = "pool";
  Index frozen = 0;  ///< weight layers from the first on
  std::string frozen_ends = "false";
  Index mlp = 2;
  std::string scale = "degree";
  std::string jk = "true";
};

struct PresetArgument {
  Parameter parameter;
  std::function<Value(const PresetOptions&)> get;
  std::function<void(PresetOptions&, Value)> set;
};

/// A network by name: "fc:3(w_std=1.4142)". Presets are read, never written: a network prints as its layers.
struct Preset {
  std::string_view name;
  std::string_view description;    ///< one line
  std::optional<Parameter> depth;  ///< what stands after ':', where something does
  PresetOptions defaults;
  std::vector<PresetArgument> arguments;
  std::function<Layers(const PresetOptions&)> build;

  /// "fc:N(w_std=1, b_std=0, activation=relu)": every argument with its default.
  [[nodiscard]] std::string usage() const;
};

[[nodiscard]] const std::vector<Preset>& list_presets();
/// nullptr where there is none of this name.
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace widelimit
