#pragma once

#include "widelimit/analysis/spectrum/label_spectrum.hpp"
#include "widelimit/analysis/spectrum/mode_dynamics.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/table.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Labels with their name on the page.
struct NamedLabels {
  std::string name;
  LabelSpectrum labels;
};

/// Network trained on such labels; `modes` is not owned.
struct NamedModes {
  std::string name;
  const ModeDynamics* modes = nullptr;
};

/// Plots λ_i by i, log-log.
[[nodiscard]] Illustration eigenvalue_figure(const KernelSpectrum& spectrum);
/// Plots the fraction of ‖y‖² in the first i directions.
[[nodiscard]] Illustration energy_figure(const std::vector<NamedLabels>& labels);
/// Plots the predicted ‖u(t) − y‖²/‖y‖² of gradient flow at these times, except 0.
[[nodiscard]] Illustration loss_figure(const std::vector<NamedLabels>& labels, const std::vector<double>& times);
/// Plots the effective dimension Σ λ_i/(λ_i + r) by r.
[[nodiscard]] Illustration dimension_figure(const KernelSpectrum& spectrum);
/// Plots measured and predicted loss by step.
[[nodiscard]] Illustration training_figure(const std::vector<NamedModes>& networks);
/// Plots measured and predicted errors in single directions by step.
[[nodiscard]] Illustration mode_figure(const NamedModes& network, const std::vector<Index>& modes);
/// Plots fitted eigenvalues against those of the limit.
[[nodiscard]] Illustration rate_figure(const std::vector<NamedModes>& networks);

/// Returns the `count` directions with the largest initial error, in ascending order.
[[nodiscard]] std::vector<Index> strongest_modes(const ModeDynamics& network, Index count);

/// Returns one row per fitted direction among the strongest `count` of each network: λ_i, fitted λ_i with its interval,
/// their ratio.
[[nodiscard]] Table rate_table(const std::vector<NamedModes>& networks, Index count);

}  // namespace widelimit
