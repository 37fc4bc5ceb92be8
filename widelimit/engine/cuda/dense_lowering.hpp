#pragma once

#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/cuda/dense_program.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <optional>
#include <vector>

namespace widelimit::cuda {

/// Rows of the feature table of one set of samples in device memory.
struct DenseLayout {
  std::vector<std::int32_t> first;  ///< first feature row of each step of the recipe; emit steps: first deviation row
  std::vector<std::int32_t> terms;  ///< number of series coefficients of each step
  std::int32_t features = 0;
  std::int32_t deviations = 0;
};
[[nodiscard]] DenseLayout dense_layout(const Recipe& recipe, const std::vector<cpu::Features>& features);

/// Lowers one step of a recipe, without feature offsets; returns std::nullopt if the step does not act on pairs.
/// Appends the constants it needs.
[[nodiscard]] std::optional<DenseStep> dense_step(const Step& from, std::vector<double>& constants);

/// A recipe lowered to device steps, for two sets of samples.
struct DenseLowered {
  std::vector<DenseStep> steps;
  std::vector<double> constants;

  [[nodiscard]] bool is_chain() const;  ///< see DenseTile::chain
};
[[nodiscard]] DenseLowered lower_dense(const Recipe& recipe, const DenseLayout& rows, const DenseLayout& cols);

}  // namespace widelimit::cuda
