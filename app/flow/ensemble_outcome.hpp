#pragma once

#include "widelimit/analysis/dynamics/ensemble.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace widelimit::app {

/// An ensemble, and the samples it was trained on and looked at, which outlive it.
struct EnsembleOutcome {
  Ensemble ensemble;
  const Dataset& train;
  const Dataset& points;
  const Matrix<double>& targets;  ///< of the training samples
};

/// A row for each time: the mean of the standard deviations, and the score of the mean where the samples have labels.
[[nodiscard]] Table ensemble_moments(const EnsembleOutcome& outcome);
/// Times, mean deviations and scores; with `all` the mean and deviation of every sample.
[[nodiscard]] nlohmann::ordered_json ensemble_json(const EnsembleOutcome& outcome, bool all);

/// Error{usage} for an ending that is not .csv, .npz or .h5; Error{resource} where it cannot be written.
void check_ensemble_path(const std::filesystem::path& path);
/// CSV: a row for each time and sample. NPZ and HDF5: arrays times, mean (times × samples × outputs), std, and
/// covariance (times × samples × samples) where there is one.
void write_ensemble(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                    const nlohmann::ordered_json& settings);
/// Deviations by time; where samples are single numbers, the mean and two standard deviations about it.
void write_ensemble_page(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                         const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
