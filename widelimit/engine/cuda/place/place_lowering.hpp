#pragma once

#include "widelimit/engine/cuda/place/place_program.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <vector>

namespace widelimit::cuda {

/// A recipe on images or graphs as passes over pairs of places.
struct LoweredPlaces {
  std::vector<PlacePass> passes;
  std::vector<DenseStep> steps;
  std::vector<double> constants;
  std::vector<std::int32_t> taps;
  std::vector<PlaceExtent> buffers;
  /// Of each step of the recipe: levels of the state that it reads, of the state that a join adds it to, and after.
  struct Levels {
    std::int32_t before = 0, beneath = 0, after = 0;
  };
  std::vector<Levels> levels;
  std::int32_t input_level = 0;
  std::int32_t level_count = 1;
  std::vector<Index> positions;  ///< images: of each level
  Precision arithmetic = Precision::f64;
};

/// In float where the processor's networks on vectors are, else in double. [runs_in_float, engine/cpu/vector/apply.hpp]
[[nodiscard]] LoweredPlaces lower_places(const Recipe& recipe, Precision precision);

}  // namespace widelimit::cuda
