#include "widelimit/engine/cpu/loaded_bytes.hpp"

#include "widelimit/engine/cpu/plane/plane_trace.hpp"
#include "widelimit/engine/cpu/vector/pair_state.hpp"

#include <algorithm>

namespace widelimit::cpu {

namespace {

constexpr std::size_t of_double = sizeof(double);
/// The allocator rounds, and keeps its own words beside every array.
constexpr std::size_t allocation = 2 * 64;

std::size_t size(Index count) { return static_cast<std::size_t>(count); }

/// States that are alive at once: one, and one more for each branch not yet joined.
std::size_t deepest_stack(const Recipe& recipe) {
  std::size_t depth = 1;
  std::size_t deepest = 1;
  for (const Step& step : recipe.steps) {
    if (step.op == Op::fork) deepest = std::max(deepest, ++depth);
    if (step.op == Op::join) --depth;
  }
  return deepest;
}

}  // namespace

std::size_t loaded_vector_bytes(const Recipe& recipe, bool in_float) {
  const std::size_t number = in_float ? sizeof(float) : of_double;
  std::size_t features = 0;
  for (const Step& step : recipe.steps) features += size(feature_count(step));
  const std::size_t kept = size(recipe.input.channels) * number + size(recipe.outputs) * of_double +
                           features * (of_double + (in_float ? sizeof(float) : 0));
  // Variances and tangents of every state, and of the step under way.
  const std::size_t passing = (deepest_stack(recipe) + 1) * (2 + size(recipe.channels)) * sizeof(long double);
  return kept + passing;
}

std::size_t loaded_plane_bytes(const Recipe& recipe, bool in_float) {
  const std::size_t number = in_float ? sizeof(float) : of_double;
  std::size_t group = size(recipe.input.size() * plane_lanes) * number;
  for (const PlaneStage& stage : plane_program(recipe).stages) {
    for (const PlaneOp& op : stage.ops) {
      Index features = op.main.op == Op::layer_norm ? 1 : 0;
      if (op.main.op == Op::dual) features = 2 + (op.rectifies ? 0 : feature_count(op.main));
      const Index places = std::max(op.before.positions(), op.after.positions()) + 1;
      group += sizeof(OpTrace) + allocation + size(features * places * plane_lanes) * number;
    }
  }
  return group / size(plane_lanes) + 1;
}

std::size_t loaded_image_bytes(const Recipe& recipe) {
  std::size_t kept = size(recipe.input.size() + recipe.outputs) * of_double;
  for (const Step& step : recipe.steps) {
    const Index places = std::max(step.before.positions(), step.after.positions());
    kept += sizeof(Features) + sizeof(Matrix<double>) + allocation;
    kept += size(feature_count(step) * (padded(places) + strip_padding)) * of_double;
    if (step.op == Op::attend) kept += size(step.before.positions() * step.before.positions()) * of_double;
  }
  return kept + size(recipe.input.positions()) * sizeof(long double);
}

}  // namespace widelimit::cpu
