#pragma once

#include "widelimit/analysis/spectrum/label_spectrum.hpp"
#include "widelimit/analysis/spectrum/mode_dynamics.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/table.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Labels with what a page calls them.
struct NamedLabels {
  std::string name;
  LabelSpectrum labels;
};

/// A network trained on such labels. Borrowed.
struct NamedModes {
  std::string name;
  const ModeDynamics* modes = nullptr;
};

/// λ_i by i, both logarithmic.
[[nodiscard]] Illustration eigenvalue_figure(const KernelSpectrum& spectrum);
/// Share of ‖y‖² in the first i directions.
[[nodiscard]] Illustration energy_figure(const std::vector<NamedLabels>& labels);
/// Predicted ‖u(t) − y‖²/‖y‖² of gradient flow at these times, 0 left out.
[[nodiscard]] Illustration loss_figure(const std::vector<NamedLabels>& labels, const std::vector<double>& times);
/// Σ λ_i/(λ_i + r) by r.
[[nodiscard]] Illustration dimension_figure(const KernelSpectrum& spectrum);
/// Measured loss beside its prediction, by step.
[[nodiscard]] Illustration training_figure(const std::vector<NamedModes>& networks);
/// Errors in single directions beside their prediction, by step.
[[nodiscard]] Illustration mode_figure(const NamedModes& network, const std::vector<Index>& modes);
/// Fitted eigenvalues beside those of the limit.
[[nodiscard]] Illustration rate_figure(const std::vector<NamedModes>& networks);

/// The `count` directions that hold most of the labels, the first of them first.
[[nodiscard]] std::vector<Index> strongest_modes(const ModeDynamics& network, Index count);

/// A row for each of the strongest `count` directions of a network that could be fitted: λ_i, fitted λ_i with its
/// interval, their ratio.
[[nodiscard]] Table rate_table(const std::vector<NamedModes>& networks, Index count);

}  // namespace widelimit
