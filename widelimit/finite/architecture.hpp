#pragma once

#include "widelimit/finite/layers/window.hpp"
#include "widelimit/network/network.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Where the scale of a layer enters. The initial function is the same, training is not: in the NTK form the gradient
/// of a weight is w_std/√fan_in times that of the standard form, so that the tangent kernel has a limit.
enum class Parameterisation : std::uint8_t {
  ntk,       ///< z = (w_std/√fan_in)·W a + b_std·b with W, b ~ N(0, 1)                 [docs/theory/finite.md]
  standard,  ///< z = W a + b with W ~ N(0, w_std²/fan_in), b ~ N(0, b_std²)
};
[[nodiscard]] std::string_view to_string(Parameterisation parameterisation);  ///< "ntk", "standard"
/// Error{usage} lists the choices.
[[nodiscard]] Parameterisation parse_parameterisation(std::string_view text);

/// What weights are drawn from at the start; means are 0.
enum class Initialisation : std::uint8_t {
  normal,   ///< N(0, σ²) with the deviations σ of the parameterisation
  uniform,  ///< U(−√3σ, √3σ): the same deviations
  pytorch,  ///< W, b ~ U(−1/√fan_in, 1/√fan_in), whatever w_std and b_std say, as PyTorch's layers start; a layer
            ///< has a bias where b_std > 0. Of the standard parameterisation.
};
[[nodiscard]] std::string_view to_string(Initialisation initialisation);  ///< "normal", "uniform", "pytorch"
/// Error{usage} lists the choices.
[[nodiscard]] Initialisation parse_initialisation(std::string_view text);

/// Widths of a network.
struct Widths {
  Index hidden = 256;  ///< channels of every dense, conv and attention layer, and attention's query dimension
  Index outputs = 1;   ///< channels of the last layer, where that is dense or conv
  Parameterisation parameterisation = Parameterisation::ntk;
  Initialisation initialisation = Initialisation::normal;
  /// Channels of each dense, conv and attention layer in the order of the text, a branch before its shortcut, without
  /// a last one that has `outputs`. Empty: `hidden` for all.
  std::vector<Index> layers = {};
  void validate() const;
  bool operator==(const Widths&) const = default;
};

/// One matrix W (fan_in × fan_out) with its bias: z = w_scale·aW + b_scale·b; at the start W has the standard deviation
/// w_start and b has b_start.                                                             [docs/theory/finite.md]
struct WeightSlot {
  Index fan_in = 0;  ///< conv: window positions × channels
  Index fan_out = 0;
  double w_scale = 1.0;  ///< NTK parameterisation: w_std/√fan_in
  double b_scale = 0.0;  ///< NTK parameterisation: b_std; 0 without bias
  double w_start = 1.0;
  double b_start = 1.0;
  bool uniform = false;  ///< drawn from a uniform distribution, else a normal one
  bool trained = true;   ///< else W and b keep what they start with: no gradient, no part in the tangent kernel

  [[nodiscard]] bool biased() const { return b_scale != 0.0; }
  /// Weights and biases.
  [[nodiscard]] Index size() const { return fan_in * fan_out + (biased() ? fan_out : 0); }
  /// Makes w_scale·W and b_scale·b the trained variables: the standard form of this one layer.
  void absorb_scales();
};

/// A layer of a network that has widths.
struct Stage {
  Layer layer;
  std::string place;  ///< "3", or "3.branch.1" inside a residual
  Shape in;
  Shape out;
  Index slot = 0;                          ///< first weight slot: dense and conv have one, attention three
  bool trains = false;                     ///< has trained slots, or a stage inside it has
  Index dropout = 0;                       ///< which dropout layer this is, in order of evaluation
  std::shared_ptr<const Function> custom;  ///< a user's activation
  std::shared_ptr<const Windows> windows;  ///< conv, pool: what they look through
  std::vector<Stage> branch;               ///< residual
  std::vector<Stage> shortcut;             ///< residual; empty is the identity
};

/// Throws Error{usage}: networks of finite width read rows of numbers.
[[noreturn]] void refuse_graphs(const std::string& place);

/// A network with widths: what finite networks evaluate. Widths are those asked for except where something fixes them:
/// the last layer has `outputs`, and the two branches of a residual must have equal output widths, so a branch that
/// passes channels through (the identity) imposes its width on the other one.
struct Architecture {
  Shape input;
  Shape output;
  std::vector<Stage> stages;
  std::vector<WeightSlot> slots;
  Index dropouts = 0;

  /// Whether a slot is trained.
  [[nodiscard]] bool trains() const;
  /// Error{input} as in infer_shapes, and where the arms of a residual cannot be made equally wide; Error{usage} for
  /// networks on graphs, and for widths of another number of layers.
  [[nodiscard]] static Architecture make(const Network& network, const Shape& input, const Widths& widths);
  /// True where the last layer is a dense readout: its input carries all there is to know of the output's variance.
  [[nodiscard]] bool ends_in_dense() const;
};

}  // namespace widelimit
