#pragma once

#include "widelimit/analysis/dynamics/ensemble.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace widelimit::app {

/// An ensemble with its training samples and the samples of its outputs, which must outlive it.
struct EnsembleOutcome {
  Ensemble ensemble;
  const Dataset& train;
  const Dataset& points;
  const Matrix<double>& targets;  ///< of the training samples
};

/// Returns a row per time: mean of the standard deviations and, if the samples have labels, score of the mean.
[[nodiscard]] Table ensemble_table(const EnsembleOutcome& outcome);
/// Returns times, mean deviations and scores; if `all`, also the mean and deviation of every sample.
[[nodiscard]] nlohmann::ordered_json ensemble_json(const EnsembleOutcome& outcome, bool all);

/// Writes CSV with a row per time and sample, or NPZ or HDF5 with the arrays times, mean (times × samples × outputs),
/// std and, if computed, covariance (times × samples × samples).
void write_ensemble(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                    const nlohmann::ordered_json& settings);
/// Writes the page: deviations by time and, for samples with one feature, the mean with two standard deviations.
void write_ensemble_page(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                         const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
