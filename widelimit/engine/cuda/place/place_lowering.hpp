#pragma once

#include "widelimit/engine/cuda/place/place_program.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <vector>

namespace widelimit::cuda {

/// A recipe on images or graphs, lowered to passes over pairs of places.
struct LoweredPlaces {
  std::vector<PlacePass> passes;
  std::vector<DenseStep> steps;
  std::vector<double> constants;
  std::vector<std::int32_t> taps;
  std::vector<PlaceExtent> buffers;
  /// Levels of each step of the recipe: of the state it reads, of the state a join adds to it, and of the result.
  struct Levels {
    std::int32_t before = 0, beneath = 0, after = 0;
  };
  std::vector<Levels> levels;
  std::int32_t input_level = 0;
  std::int32_t level_count = 1;
  std::vector<Index> positions;  ///< images: number of positions of each level
  Precision arithmetic = Precision::f64;
};

/// Lowers a recipe; the arithmetic is float if the CPU computes it in float on vectors.
/// [runs_in_float, engine/cpu/vector/apply.hpp]
[[nodiscard]] LoweredPlaces lower_places(const Recipe& recipe, Precision precision);

}  // namespace widelimit::cuda
