#pragma once

#include "app/fit/class_weight_options.hpp"
#include "app/fit/fit_options.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/machine/tune.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// Values of the options of model selection, shared by `tune` and `compare`.
struct SelectionChoice {
  CommonOptions common;
  DataChoice data;
  std::string kind = "ntk";
  std::string machine = "ridge";
  std::vector<double> lambdas;
  double epsilon = MachineOptions{}.epsilon;
  bool bias = false;
  std::optional<std::string> scheme;
  std::string folds = std::to_string(TuneOptions{}.folds);  ///< number of folds, or a file
  ClassWeightChoice class_weights;
  bool probability = false;

  /// Returns the options with the λ of --lambdas, possibly none, and without class weights, which need the data. Throws
  /// Error{usage} if options contradict each other or a number is out of range.
  [[nodiscard]] TuneOptions tune_options(Progress* progress) const;
  /// Returns the options with which `fit` fits the selected machine.
  [[nodiscard]] FitOptions fit_options(const KernelChoice& kernel, double lambda, const std::string& out) const;

  /// Throws Error{usage} if --folds is a file, whose row numbers are those of the source, and an option selects or
  /// reorders rows.
  void check_fold_file(const DataRequest& request) const;
  /// Returns and prints notes on the use of the samples by a file of folds. Called before kernels are computed.
  [[nodiscard]] std::vector<std::string> fold_notes(const Dataset& samples) const;
  /// Returns "5 folds" or "the folds of FILE".
  [[nodiscard]] std::string folds_text() const;
  /// Returns whether λ is selected by leave-one-out instead of folds.
  [[nodiscard]] bool uses_leave_one_out() const;
  /// Adds the options that are set to `settings`.
  void write_settings(nlohmann::ordered_json& settings) const;
};

/// Adds --machine, --lambdas, --folds, --epsilon, --bias, --scheme, --balance and --class-weight. `default_lambdas`
/// describes the default values of λ.
void add_selection_options(CLI::App& verb, SelectionChoice& choice, const char* group,
                           const std::string& default_lambdas);

}  // namespace widelimit::app
