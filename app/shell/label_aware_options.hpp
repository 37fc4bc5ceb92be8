#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace widelimit::app {

/// Values of the options of a label-aware kernel.
struct LabelAwareChoice {
  std::optional<std::string> method;
  std::optional<double> ratio;
  std::optional<std::string> target;
  std::optional<std::string> psd;
  Psd default_psd = Psd::none;

  /// Returns std::nullopt without --label-aware. Throws Error{usage} if options contradict each other.
  [[nodiscard]] std::optional<LabelAwareOptions> options(std::uint64_t seed) const;
  /// Adds the options that are set to `settings`.
  void write_settings(nlohmann::ordered_json& settings) const;
};

/// Adds --label-aware, --ratio, --pair-target and --psd with its default.
void add_label_aware_options(CLI::App& verb, LabelAwareChoice& choice, const char* group, Psd default_psd);

/// Returns the fit to the labels and the repair of the spectrum, as JSON and as text.
[[nodiscard]] nlohmann::ordered_json label_aware_json(const LabelAwareKernels& made);
[[nodiscard]] std::string label_aware_summary(const LabelAwareKernels& made);

}  // namespace widelimit::app
