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

/// A label-aware kernel as typed.
struct LabelAwareChoice {
  std::optional<std::string> method;
  std::optional<double> ratio;
  std::optional<std::string> target;
  std::optional<std::string> psd;
  Psd usual_psd = Psd::none;

  /// Nothing where it is not asked for. Error{usage} for contradictions.
  [[nodiscard]] std::optional<LabelAwareOptions> options(std::uint64_t seed) const;
  /// What was asked for, for records.
  void tell(nlohmann::ordered_json& settings) const;
};

/// --label-aware, --ratio, --pair-target and --psd, which is `usual` unless given.
void add_label_aware_options(CLI::App& verb, LabelAwareChoice& choice, const char* group, Psd usual);

/// What was learned from the labels and done to the spectrum, for records and in words.
[[nodiscard]] nlohmann::ordered_json label_aware_json(const LabelAwareKernels& made);
[[nodiscard]] std::string label_aware_words(const LabelAwareKernels& made);

}  // namespace widelimit::app
