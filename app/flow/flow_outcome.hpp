#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace widelimit::app {

/// A trajectory with its scores at each recorded time.
struct FlowOutcome {
  Trajectory trajectory;
  Loss loss;
  double lambda = 0;
  bool discrete = false;
  std::vector<double> train_score;  ///< accuracy or mean squared error; empty if unknown
  std::vector<double> test_score;
  bool classes = false;  ///< whether the scores are accuracies

  [[nodiscard]] const char* time_name() const { return discrete ? "step" : "time"; }
  [[nodiscard]] const char* score_name() const { return classes ? "accuracy" : "squared error"; }
};

/// Sets the scores of the outcome.
void evaluate_outputs(FlowOutcome& outcome, const TrainTest& data);

/// Returns objective, loss and scores at up to `rows` of the recorded times, including the first and the last.
[[nodiscard]] Table flow_table(const FlowOutcome& outcome, std::size_t rows);
/// Returns a few lines on the method, events, theorems and step sizes.
[[nodiscard]] std::vector<std::string> summary_lines(const FlowOutcome& outcome);
[[nodiscard]] nlohmann::ordered_json outcome_json(const FlowOutcome& outcome);

/// Writes CSV with a row per time and a column per output, or NPZ or HDF5 with the arrays times, objective, loss, train
/// and test (times × samples × outputs), samples, alpha and, for losses with kinks, event_time, event_sample,
/// event_output.
void write_trajectory(const std::filesystem::path& path, const FlowOutcome& outcome,
                      const nlohmann::ordered_json& settings);

/// Writes the page with figures of outputs, loss and the rate of Theorem 3.1.
void write_flow_page(const std::filesystem::path& path, const std::string& title, const FlowOutcome& outcome,
                     const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
