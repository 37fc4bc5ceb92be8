#pragma once

#include "widelimit/recipe/recipe.hpp"

/// What each engine's load takes for one sample: what is kept, and what is alive beside it while it is made.
namespace widelimit::cpu {

[[nodiscard]] std::size_t loaded_vector_bytes(const Recipe& recipe, bool in_float);
[[nodiscard]] std::size_t loaded_plane_bytes(const Recipe& recipe, bool in_float);
[[nodiscard]] std::size_t loaded_image_bytes(const Recipe& recipe);

}  // namespace widelimit::cpu
