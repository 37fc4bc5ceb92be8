#pragma once

#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/cuda/dense_program.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <optional>
#include <vector>

namespace widelimit::cuda {

/// Where the features of one set of samples lie among the rows that the device holds.
struct DenseLayout {
  std::vector<std::int32_t> first;  ///< of each step of the recipe; of emit steps: among the deviations
  std::vector<std::int32_t> terms;  ///< coefficients of each place, of series
  std::int32_t features = 0;
  std::int32_t deviations = 0;
};
[[nodiscard]] DenseLayout dense_layout(const Recipe& recipe, const std::vector<cpu::Features>& features);

/// What a step does to a pair of places, without its features; nothing where it does nothing to pairs alone. Constants
/// that it needs are appended.
[[nodiscard]] std::optional<DenseStep> dense_step(const Step& from, std::vector<double>& constants);

/// A recipe as a device runs it, for two sets of samples.
struct DenseLowered {
  std::vector<DenseStep> steps;
  std::vector<double> constants;

  [[nodiscard]] bool is_chain() const;  ///< as in DenseTile
};
[[nodiscard]] DenseLowered lower_dense(const Recipe& recipe, const DenseLayout& rows, const DenseLayout& cols);

}  // namespace widelimit::cuda
