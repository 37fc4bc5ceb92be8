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

/// A trajectory, and what its outputs say of the samples at each recorded moment.
struct FlowOutcome {
  Trajectory trajectory;
  Loss loss;
  double lambda = 0;
  bool discrete = false;
  std::vector<double> train_score;  ///< share of correct classes, or mean squared error; empty where not known
  std::vector<double> test_score;
  bool classes = false;  ///< the scores are shares of correct classes

  [[nodiscard]] const char* time_name() const { return discrete ? "step" : "time"; }
  [[nodiscard]] const char* score_name() const { return classes ? "accuracy" : "squared error"; }
};

/// Fills the scores.
void judge_outputs(FlowOutcome& outcome, const TrainTest& data);

/// Objective, loss and scores at up to `rows` of the moments, the first and last among them.
[[nodiscard]] Table moments_table(const FlowOutcome& outcome, std::size_t rows);
/// Few lines on the method, the events, the theorems and the steps.
[[nodiscard]] std::vector<std::string> checks_of(const FlowOutcome& outcome);
[[nodiscard]] nlohmann::ordered_json outcome_json(const FlowOutcome& outcome);

/// Error{usage} for an ending that is not .csv, .npz or .h5; Error{resource} where it cannot be written.
void check_trajectory_path(const std::filesystem::path& path);
/// CSV: a row for each moment, its outputs beside each other. NPZ and HDF5: arrays times, objective, loss, train and
/// test (moments × samples × outputs), samples, alpha, and event_time, event_sample, event_output of a flow with kinks.
void write_trajectory(const std::filesystem::path& path, const FlowOutcome& outcome,
                      const nlohmann::ordered_json& settings);

/// Outputs, loss and the rate of Theorem 3.1 as figures.
void write_flow_page(const std::filesystem::path& path, const std::string& title, const FlowOutcome& outcome,
                     const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
