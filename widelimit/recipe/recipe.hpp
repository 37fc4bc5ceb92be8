#pragma once

#include "widelimit/network/network.hpp"
#include "widelimit/recipe/pointwise.hpp"
#include "widelimit/recipe/step.hpp"

#include <memory>
#include <string>
#include <vector>

namespace widelimit {

/// A network lowered for one input shape, the only input of a back end.
struct Recipe {
  Shape input;  ///< as seen by the network (flattened unless it is spatial)
  std::vector<Step> steps;
  bool all_pairs = false;                                   ///< whether the input state holds all pairs of positions
  Index channels = 0;                                       ///< number of tangent channels Θ_m
  Index outputs = 0;                                        ///< number of matrices that emit writes
  std::vector<double> constants;                            ///< coefficients referenced by duals
  std::vector<std::shared_ptr<const Pointwise>> functions;  ///< functions without closed-form dual
  std::vector<std::string> weight_layers;                   ///< position and text of each layer with weights

  /// Whether the output is at the nodes of graphs, without a sum over nodes.
  [[nodiscard]] bool at_nodes() const;
  /// Whether the network acts on vectors: one position throughout and no step that moves positions.
  [[nodiscard]] bool on_vectors() const;
};

/// Requested outputs, and the weight layers that each tangent channel trains. No channel trains a frozen layer.
enum class RecipeOutputs : std::uint8_t {
  nngp,
  ntk,
  both,       ///< output 0 is nngp, output 1 is ntk
  per_layer,  ///< output l: only weight layer l is trained; 0 if it is frozen
  sweep,      ///< output i(i+1)/2 + j, j ≤ i: truncated after i hidden layers, first j weight layers also frozen
};

/// Throws Error{usage} naming a layer without closed form and the reason; Error{input} if a sweep does not support the
/// network.
[[nodiscard]] Recipe lower(const Network& network, const Shape& input, RecipeOutputs requested);

/// Whether the limit kernel of a network is available in closed form, by quadrature, or only by sampling.
enum class Exactness : std::uint8_t { closed_form, quadrature, monte_carlo };
[[nodiscard]] Exactness exactness(const Network& network);

/// The same, with the layer that has no formula and the reason: "layer 3 (relu) reads …"; empty if all have one.
struct LimitFormula {
  Exactness exactness = Exactness::closed_form;
  std::string obstacle;
};
[[nodiscard]] LimitFormula limit_formula(const Network& network);

/// Approximate floating-point operations per pair of samples, or per pair of nodes for graphs; shown by `network show`.
[[nodiscard]] double operations_per_pair(const Recipe& recipe);

}  // namespace widelimit
