#include "app/fit/selection_options.hpp"

#include "app/shell/outcome.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels/folds.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

namespace widelimit::app {

namespace {

/// Returns the number of folds, or std::nullopt if `folds` is a file. Negative and fractional numbers are no names of
/// files either, unless such a file exists.
std::optional<Index> fold_count(const std::string& folds) {
  const bool digits = std::all_of(folds.begin(), folds.end(), [](char c) { return c >= '0' && c <= '9'; });
  std::error_code ignored;
  if (!digits && (!parse_real(folds) || std::filesystem::exists(folds, ignored))) return std::nullopt;
  Index number = 0;
  const auto [end, error] = std::from_chars(folds.data(), folds.data() + folds.size(), number);
  if (error != std::errc{} || end != folds.data() + folds.size() || number < 2) {
    fail(Code::usage, "--folds '{}': give a number of folds >= 2, or a file with folds", folds);
  }
  return number;
}

}  // namespace

TuneOptions SelectionChoice::tune_options(Progress* progress) const {
  TuneOptions options;
  options.machine = {.machine = parse_machine(machine), .epsilon = epsilon, .bias = bias};
  if (scheme) options.machine.scheme = parse_scheme(*scheme);
  class_weights.check(options.machine.machine);
  options.machine.progress = progress;
  for (const double lambda : lambdas) {
    if (!std::isfinite(lambda) || lambda <= 0) fail(Code::usage, "--lambdas {}: values must be positive", lambda);
  }
  options.lambdas = lambdas;
  if (const auto number = fold_count(folds)) {
    options.folds = *number;
  } else {
    options.given_folds = read_folds(folds);
  }
  options.seed = common.seed;
  return options;
}

FitOptions SelectionChoice::fit_options(const KernelChoice& kernel, double lambda, const std::string& out) const {
  FitOptions options{.common = common, .data = data, .kernel = kernel};
  options.machine = machine;
  options.lambda = lambda;
  options.epsilon = epsilon;
  options.bias = bias;
  options.scheme = scheme;
  options.probability = probability;
  options.class_weights = class_weights;
  options.out = out;
  return options;
}

void SelectionChoice::check_fold_file(const DataRequest& request) const {
  if (fold_count(folds)) return;
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      fail(Code::usage, "--folds {}: its row numbers refer to the unmodified data; leave {} out", folds, option);
  };
  refuse(!request.classes.empty(), "--classes");
  refuse(request.limit.has_value(), "--limit");
  refuse(request.shuffle.has_value(), "--shuffle");
  refuse(request.split.has_value(), "--split");
  refuse(request.table.missing == Missing::drop, "--missing drop");
}

std::vector<std::string> SelectionChoice::fold_notes(const Dataset& samples) const {
  if (fold_count(folds)) return {};
  const bool numbers = parse_machine(machine) == Machine::svr;
  const std::vector<std::string> notes =
      check_folds(read_folds(folds), samples.count(), numbers ? std::span<const Index>{} : samples.labels);
  for (const std::string& line : notes) note(common, line);
  return notes;
}

std::string SelectionChoice::folds_text() const {
  return fold_count(folds) ? fmt::format("{} folds", folds) : "the folds of " + folds;
}

bool SelectionChoice::uses_leave_one_out() const {
  return parse_machine(machine) == Machine::ridge && fold_count(folds).has_value();
}

void SelectionChoice::write_settings(nlohmann::ordered_json& settings) const {
  settings["machine"] = machine;
  if (parse_machine(machine) == Machine::svr) settings["epsilon"] = epsilon;
  if (scheme) settings["scheme"] = *scheme;
  if (!lambdas.empty()) settings["lambdas"] = lambdas;
  settings["bias"] = bias;
  if (const auto number = fold_count(folds)) {
    settings["folds"] = *number;
  } else {
    settings["folds"] = folds;
  }
  class_weights.write_settings(settings);
  if (probability) settings["probability"] = true;
}

void add_selection_options(CLI::App& verb, SelectionChoice& choice, const char* group,
                           const std::string& default_lambdas) {
  verb.add_option("--machine", choice.machine, "ridge (exact leave-one-out), svm, svm2, svr, logistic, … (folds)")
      ->type_name("M")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--lambdas", choice.lambdas, "Values of λ; default: " + default_lambdas)
      ->type_name("L1,L2,…")
      ->delimiter(',')
      ->group(group);
  verb.add_option("--folds", choice.folds,
                  "Number of cross-validation folds, or a file: alternating lines of training and test row numbers, or "
                  "JSON")
      ->type_name("N|FILE")
      ->capture_default_str()
      ->group(group);
  add_variant_options(verb, choice.epsilon, choice.bias, choice.scheme, group);
  add_class_weight_options(verb, choice.class_weights, group);
}

}  // namespace widelimit::app
