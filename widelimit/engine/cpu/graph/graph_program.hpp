#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <vector>

namespace widelimit::cpu {

/// Places of the state at a step: those after a number of colour rounds, or one per graph.
inline constexpr Index whole_graph = -1;

struct GraphStep {
  Index before = 0;   ///< rounds of the state that the step reads
  Index beneath = 0;  ///< join: rounds of the state that it is added to
  Index after = 0;
};

/// A recipe on graphs, annotated with the number of aggregations of each state.
struct GraphProgram {
  std::vector<GraphStep> steps;  ///< one per step of the recipe
  Index rounds = 0;              ///< maximum number of aggregations of a state
  Index deepest = 1;             ///< maximum number of live states
  bool merges = true;            ///< nodes of equal colour are one place; not with dropout, which drops each by itself

  explicit GraphProgram(const Recipe& recipe);
};

}  // namespace widelimit::cpu
