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

/// How kernels and λ are chosen, as typed: what `tune` and `compare` share.
struct SelectionChoice {
  CommonOptions common;
  DataChoice data;
  std::string kind = "ntk";
  std::string machine = "ridge";
  std::vector<double> lambdas;
  double epsilon = MachineOptions{}.epsilon;
  bool bias = false;
  std::optional<std::string> scheme;
  std::string folds = std::to_string(TuneOptions{}.folds);  ///< how many, or a file
  ClassWeightChoice class_weights;
  bool probability = false;

  /// Error{usage} for contradictions and numbers out of range. The λ that were typed, none where none were; weights of
  /// classes are left to the data.
  [[nodiscard]] TuneOptions tune_options(Progress* progress) const;
  /// The machine of a choice as `fit` would be asked for it.
  [[nodiscard]] FitOptions fit_options(const KernelChoice& kernel, double lambda, const std::string& out) const;

  /// Rows of a file of folds are those of the data as they are read: Error{usage} where other rows are asked for.
  void check_fold_file(const DataRequest& request) const;
  /// What a file of folds does with these samples, which is also noted on standard error; before any kernel is
  /// computed.
  [[nodiscard]] std::vector<std::string> fold_notes(const Dataset& samples) const;
  /// "5 folds", or "the folds of FILE".
  [[nodiscard]] std::string folds_text() const;
  /// Whether the machine chooses its λ so, and not by folds.
  [[nodiscard]] bool leaves_one_out() const;
  /// What was asked for, for records.
  void tell(nlohmann::ordered_json& settings) const;
};

/// --machine, --lambdas, --folds, --epsilon, --bias, --scheme, --balance and --class-weight. `usual` says which λ are
/// tried where none are typed.
void add_selection_options(CLI::App& verb, SelectionChoice& choice, const char* group, const std::string& usual);

}  // namespace widelimit::app
