#pragma once

#include "widelimit/machine/machine.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// Named only: its header takes longer to compile than any file here.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// Weights of classes as typed.
struct ClassWeightChoice {
  bool balance = false;
  std::vector<std::string> weights;  ///< NAME=W

  [[nodiscard]] bool asked() const { return balance || !weights.empty(); }
  /// Error{usage} for contradictions, for weights that cannot be read, and for a machine that cannot weigh its classes.
  void check(Machine machine) const;
  /// For data of these classes; those that are not named weigh 1. Error{usage} for a name that is none of them, and
  /// where there are no classes.
  [[nodiscard]] ClassWeights of(const std::vector<std::string>& classes) const;
  /// What was asked for, for records.
  void tell(nlohmann::ordered_json& settings) const;
};

/// --balance and --class-weight.
void add_class_weight_options(CLI::App& verb, ClassWeightChoice& choice, const char* group);

}  // namespace widelimit::app
