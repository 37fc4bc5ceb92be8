#pragma once

#include "widelimit/network/value.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Union of the options of all presets; each preset uses some of them.
struct PresetOptions {
  Index depth = 0;
  double w_std = 1.0;
  double b_std = 0.0;
  Extent kernel{3, 3};
  std::string activation = "relu";
  std::string readout = "pool";
  Index frozen = 0;  ///< number of leading weight layers that are frozen
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

/// A named network, e.g. "fc:3(w_std=1.4142)". Presets are only parsed; to_text() prints their layers.
struct Preset {
  std::string_view name;
  std::string_view description;    ///< one-line summary
  std::optional<Parameter> depth;  ///< parameter after ':', if the preset has one
  PresetOptions defaults;
  std::vector<PresetArgument> arguments;
  std::function<Layers(const PresetOptions&)> build;

  /// Returns e.g. "fc:N(w_std=1, b_std=0, activation=relu)": every argument with its default.
  [[nodiscard]] std::string usage() const;
};

[[nodiscard]] const std::vector<Preset>& list_presets();
/// Returns nullptr if no preset has this name.
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace widelimit
