#pragma once

#include "widelimit/machine/machine.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// Forward declaration: the header of CLI11 is slow to compile.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// Values of the options of class weights.
struct ClassWeightChoice {
  bool balance = false;
  std::vector<std::string> weights;  ///< NAME=W

  [[nodiscard]] bool given() const { return balance || !weights.empty(); }
  /// Throws Error{usage} if options contradict each other, a weight cannot be parsed, or the machine does not support
  /// class weights.
  void check(Machine machine) const;
  /// Returns the weights of `classes`, 1 by default. Throws Error{usage} if a name is not one of `classes`, or
  /// `classes` is empty.
  [[nodiscard]] ClassWeights of(const std::vector<std::string>& classes) const;
  /// Adds the options that are set to `settings`.
  void write_settings(nlohmann::ordered_json& settings) const;
};

/// Adds --balance and --class-weight.
void add_class_weight_options(CLI::App& verb, ClassWeightChoice& choice, const char* group);

}  // namespace widelimit::app
