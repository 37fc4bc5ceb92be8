#pragma once

#include "widelimit/report/figures/spectrum_figures.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace widelimit::app {

/// What `spectrum` found.
struct SpectrumOutcome {
  std::unique_ptr<KernelSpectrum> spectrum;
  std::vector<NamedLabels> labels;
  std::vector<ModeDynamics> networks;  ///< one for each of the labels, or none
  double epsilon = 0;
  double rate = 0;  ///< η of steps
  std::vector<double> times;
  std::vector<double> ridges;
  Index modes = 0;  ///< directions of each network that tables show

  [[nodiscard]] std::vector<NamedModes> named_networks() const;
};

/// A row for each of the labels: energy in the first directions, norm, floor, time and steps to ε.
[[nodiscard]] Table labels_table(const SpectrumOutcome& outcome);
/// Predicted loss, relative to the start, at up to `rows` of the times.
[[nodiscard]] Table losses_table(const SpectrumOutcome& outcome, std::size_t rows);
/// Measured and predicted loss of the networks at up to `rows` recorded steps.
[[nodiscard]] Table networks_table(const SpectrumOutcome& outcome, std::size_t rows);
/// Few lines on eigenvalues, rates and dimensions.
[[nodiscard]] std::vector<std::string> spectrum_facts(const SpectrumOutcome& outcome);
/// What a careful reader should know.
[[nodiscard]] std::vector<std::string> spectrum_remarks(const SpectrumOutcome& outcome);
[[nodiscard]] nlohmann::ordered_json outcome_json(const SpectrumOutcome& outcome);

/// Error{usage} for an ending that is not .csv, .npz or .h5; Error{resource} where it cannot be written.
void check_spectrum_path(const std::filesystem::path& path);
/// CSV: a row for each direction with its eigenvalue and the projections of all labels. NPZ and HDF5: eigenvalues,
/// eigenvectors (row i is v_i) and projections by labels, and of networks steps, measured and predicted errors.
void write_spectrum(const std::filesystem::path& path, const SpectrumOutcome& outcome,
                    const nlohmann::ordered_json& settings);

void write_spectrum_page(const std::filesystem::path& path, const std::string& title, const SpectrumOutcome& outcome,
                         const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
