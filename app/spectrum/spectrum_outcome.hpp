#pragma once

#include "widelimit/report/figures/spectrum_figures.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace widelimit::app {

/// Results of `spectrum`.
struct SpectrumOutcome {
  std::unique_ptr<KernelSpectrum> spectrum;
  std::vector<NamedLabels> labels;
  std::vector<ModeDynamics> networks;  ///< one per element of labels, or none
  double epsilon = 0;
  double rate = 0;  ///< learning rate η
  std::vector<double> times;
  std::vector<double> ridges;
  Index modes = 0;  ///< number of directions of each network in tables

  [[nodiscard]] std::vector<NamedModes> named_networks() const;
};

/// Returns a row per labels: energy in the first directions, norm, floor, time and steps to ε.
[[nodiscard]] Table labels_table(const SpectrumOutcome& outcome);
/// Returns the predicted loss, relative to the initial loss, at up to `rows` of the times.
[[nodiscard]] Table losses_table(const SpectrumOutcome& outcome, std::size_t rows);
/// Returns measured and predicted loss of the networks at up to `rows` recorded steps.
[[nodiscard]] Table networks_table(const SpectrumOutcome& outcome, std::size_t rows);
/// Returns a few lines on eigenvalues, rates and dimensions.
[[nodiscard]] std::vector<std::string> spectrum_facts(const SpectrumOutcome& outcome);
/// Returns remarks on singular kernels, unreachable ε and networks that differ from the prediction.
[[nodiscard]] std::vector<std::string> spectrum_remarks(const SpectrumOutcome& outcome);
[[nodiscard]] nlohmann::ordered_json outcome_json(const SpectrumOutcome& outcome);

/// Writes CSV with a row per direction (eigenvalue and projections of all labels), or NPZ or HDF5 with eigenvalues,
/// eigenvectors (row i is v_i), projections by labels and, for networks, steps, measured and predicted errors.
void write_spectrum(const std::filesystem::path& path, const SpectrumOutcome& outcome,
                    const nlohmann::ordered_json& settings);

void write_spectrum_page(const std::filesystem::path& path, const std::string& title, const SpectrumOutcome& outcome,
                         const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
