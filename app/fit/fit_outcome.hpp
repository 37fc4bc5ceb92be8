#pragma once

#include "app/fit/fit_options.hpp"

#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/report/record.hpp"
#include "widelimit/report/scores.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit::app {

/// A fitted machine written to its file, with its report.
struct FitOutcome {
  FittedData fitted;
  Model model;
  std::vector<NamedScore> scores;  ///< on the training and the test samples
  nlohmann::ordered_json results;
  std::string text;
};

/// Fits the machine, writes --out and computes scores. Throws Error{numerical} if there is no machine to write; the
/// caller passes other unsuccessful endings to check_ending().
[[nodiscard]] FitOutcome fit_to_file(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                                     const nlohmann::ordered_json& settings, const Engine& engine);

/// Adds the seconds of kernel and fit.
void add_timings(Record& record, const FitOutcome& outcome);

/// Throws Error{numerical} unless the fit converged.
void check_ending(const Summary& summary);

}  // namespace widelimit::app
