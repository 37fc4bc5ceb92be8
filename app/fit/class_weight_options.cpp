#include "app/fit/class_weight_options.hpp"

#include "widelimit/base/error.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace widelimit::app {

namespace {

/// Parses NAME=W; the name may contain '='.
std::pair<std::string, double> named_weight(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  double weight = 0;
  if (sign != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + sign + 1, end, weight);
    if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(weight)) weight = 0;
  }
  if (!(weight > 0)) {
    fail(Code::usage, "--class-weight {}: give a class and a positive number, e.g. spam=10", text);
  }
  return {text.substr(0, sign), weight};
}

}  // namespace

void ClassWeightChoice::check(Machine machine) const {
  if (balance && !weights.empty()) fail(Code::usage, "--balance and --class-weight: choose one of them");
  for (const std::string& text : weights) (void)named_weight(text);
  if (given() && (machine == Machine::hard_svm || machine == Machine::regression || machine == Machine::svr)) {
    fail(Code::usage, "{}: {} {}; choose svm, svm2, logistic or ridge", balance ? "--balance" : "--class-weight",
         to_string(machine),
         machine == Machine::svr ? "fits numbers, not classes"
                                 : "has no losses to weight; its solution does not depend on weights");
  }
}

ClassWeights ClassWeightChoice::of(const std::vector<std::string>& classes) const {
  ClassWeights result{.balanced = balance};
  if (given() && classes.empty()) {
    fail(Code::usage, "{}: the samples have no classes", balance ? "--balance" : "--class-weight");
  }
  if (weights.empty()) return result;
  result.each.assign(classes.size(), 1.0);
  for (const std::string& text : weights) {
    const auto [name, weight] = named_weight(text);
    const auto place = std::find(classes.begin(), classes.end(), name);
    if (place == classes.end()) {
      fail(Code::usage, "--class-weight {}: there is no class '{}'; the classes are: {}", text, name,
           fmt::join(classes, ", "));
    }
    result.each[static_cast<std::size_t>(place - classes.begin())] = weight;
  }
  return result;
}

void ClassWeightChoice::write_settings(nlohmann::ordered_json& settings) const {
  if (balance) settings["balance"] = true;
  for (const std::string& text : weights) {
    const auto [name, weight] = named_weight(text);
    settings["class_weight"][name] = weight;
  }
}

void add_class_weight_options(CLI::App& verb, ClassWeightChoice& choice, const char* group) {
  verb.add_flag("--balance", choice.balance, "Weight the classes inversely to their sizes")->group(group);
  verb.add_option("--class-weight", choice.weights, "Weights of classes in the sum of losses; default 1")
      ->type_name("NAME=W,…")
      ->delimiter(',')
      ->group(group);
}

}  // namespace widelimit::app
