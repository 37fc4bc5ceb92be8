#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <vector>

namespace widelimit::cpu {

/// Which places the states of a step are of: those after some rounds of colours, or one for each graph.
inline constexpr Index whole_graph = -1;

struct GraphStep {
  Index before = 0;   ///< rounds of the state that the step reads
  Index beneath = 0;  ///< join: of the state that it is added to
  Index after = 0;
};

/// A recipe on graphs, with the number of aggregations that each state has come through.
struct GraphProgram {
  std::vector<GraphStep> steps;  ///< one for each step of the recipe
  Index rounds = 0;              ///< most aggregations of any state
  Index deepest = 1;             ///< states that are alive at once
  bool merges = true;            ///< dropout tells nodes of equal colour apart, each of which is dropped on its own

  explicit GraphProgram(const Recipe& recipe);
};

}  // namespace widelimit::cpu
