#pragma once

#include "widelimit/network/network.hpp"
#include "widelimit/recipe/pointwise.hpp"
#include "widelimit/recipe/step.hpp"

#include <memory>
#include <string>
#include <vector>

namespace widelimit {

/// A network lowered for one input shape: all that a back end knows of it.
struct Recipe {
  Shape input;  ///< as the network reads it (flattened where it is not spatial)
  std::vector<Step> steps;
  bool all_pairs = false;                                   ///< whether the input state holds all position pairs
  Index channels = 0;                                       ///< tangent channels Θ_m carried along
  Index outputs = 0;                                        ///< matrices that emit writes
  std::vector<double> constants;                            ///< coefficients that duals refer to
  std::vector<std::shared_ptr<const Pointwise>> functions;  ///< functions without closed-form dual
  std::vector<std::string> weight_layers;                   ///< place and text of each layer with weights

  /// The output is at the nodes of graphs, none of which is summed over.
  [[nodiscard]] bool at_nodes() const;
  /// One position throughout and no step that moves positions: the network acts on vectors.
  [[nodiscard]] bool on_vectors() const;
};

/// What is wanted of a recipe, and which weight layers each tangent channel trains. No channel trains a frozen one.
enum class RecipeOutputs : std::uint8_t {
  nngp,
  ntk,
  both,       ///< output 0 is nngp, output 1 is ntk
  per_layer,  ///< output l: only weight layer l is trained, 0 where it is frozen
  sweep,      ///< output i(i+1)/2 + j, j ≤ i: cut after i hidden layers, first j weight layers frozen too
};

/// Error{usage} names a layer without closed form and says why; Error{input} why a sweep needs another network.
[[nodiscard]] Recipe lower(const Network& network, const Shape& input, RecipeOutputs wanted);

/// Whether the limit kernel of a network is known in closed form, by quadrature, or only by sampling.
enum class Exactness : std::uint8_t { closed_form, quadrature, monte_carlo };
[[nodiscard]] Exactness exactness(const Network& network);

/// The same, with the layer that has no formula and why: "layer 3 (relu) reads …"; empty where all have one.
struct LimitFormula {
  Exactness exactness = Exactness::closed_form;
  std::string obstacle;
};
[[nodiscard]] LimitFormula limit_formula(const Network& network);

/// Floating-point operations of one pair, roughly: what `network show` calls its cost. Of graphs: of one pair of nodes.
[[nodiscard]] double operations_per_pair(const Recipe& recipe);

}  // namespace widelimit
