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

/// Where the scale of a layer enters. The function at initialisation is the same, but training differs: in the NTK form
/// the gradient of a weight is w_std/√fan_in times that of the standard form, so that the tangent kernel has a limit.
enum class Parameterisation : std::uint8_t {
  ntk,       ///< z = (w_std/√fan_in)·W a + b_std·b with W, b ~ N(0, 1)                 [docs/theory/finite.md]
  standard,  ///< z = W a + b with W ~ N(0, w_std²/fan_in), b ~ N(0, b_std²)
};
[[nodiscard]] std::string_view to_string(Parameterisation parameterisation);  ///< "ntk", "standard"
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] Parameterisation parse_parameterisation(std::string_view text);

/// Distribution of the initial weights, with mean 0.
enum class Initialisation : std::uint8_t {
  normal,   ///< N(0, σ²) with the standard deviation σ of the parameterisation
  uniform,  ///< U(−√3σ, √3σ): the same standard deviation
  pytorch,  ///< W, b ~ U(−1/√fan_in, 1/√fan_in) as in PyTorch's layers, independent of w_std and b_std; a layer has
            ///< a bias if b_std > 0. Standard parameterisation only.
};
[[nodiscard]] std::string_view to_string(Initialisation initialisation);  ///< "normal", "uniform", "pytorch"
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] Initialisation parse_initialisation(std::string_view text);

/// Widths and parameterisation of a network.
struct Widths {
  Index hidden = 256;  ///< channels of every dense, conv and attention layer, and attention's query dimension
  Index outputs = 1;   ///< channels of the last layer if it is dense or conv
  Parameterisation parameterisation = Parameterisation::ntk;
  Initialisation initialisation = Initialisation::normal;
  /// Channels of each dense, conv and attention layer in the order of the text, with a branch before its shortcut and
  /// without a last layer that has `outputs`. Empty: `hidden` for all.
  std::vector<Index> layers = {};
  void validate() const;
  bool operator==(const Widths&) const = default;
};

/// One matrix W (fan_in × fan_out) with its bias: z = w_scale·aW + b_scale·b; initially W has the standard deviation
/// w_start and b has b_start. [docs/theory/finite.md]
struct WeightSlot {
  Index fan_in = 0;  ///< conv: window positions × channels
  Index fan_out = 0;
  double w_scale = 1.0;  ///< NTK parameterisation: w_std/√fan_in
  double b_scale = 0.0;  ///< NTK parameterisation: b_std; 0 without bias
  double w_start = 1.0;
  double b_start = 1.0;
  bool uniform = false;  ///< drawn from a uniform distribution, otherwise normal
  bool trained = true;   ///< false: W and b stay at their initial values and do not contribute to the tangent kernel

  [[nodiscard]] bool biased() const { return b_scale != 0.0; }
  /// Returns the number of weights and biases.
  [[nodiscard]] Index size() const { return fan_in * fan_out + (biased() ? fan_out : 0); }
  /// Makes w_scale·W and b_scale·b the trained variables: the standard form for this layer only.
  void absorb_scales();
};

/// A layer of a network with widths.
struct Stage {
  Layer layer;
  std::string place;  ///< "3", or "3.branch.1" inside a residual
  Shape in;
  Shape out;
  Index slot = 0;                          ///< first weight slot: dense and conv have one, attention has three
  bool trains = false;                     ///< has trained slots, or a stage inside it has
  Index dropout = 0;                       ///< index of this dropout layer in order of evaluation
  std::shared_ptr<const Function> custom;  ///< custom activation
  std::shared_ptr<const Windows> windows;  ///< windows of conv and pool
  std::vector<Stage> branch;               ///< residual
  std::vector<Stage> shortcut;             ///< residual; empty: identity
};

/// Throws Error{usage}: networks of finite width do not support graphs.
[[noreturn]] void refuse_graphs(const std::string& place);

/// A network with widths, as evaluated by finite networks. Widths are as requested except where they are determined:
/// the last layer has `outputs`, and the two arms of a residual must have equal output widths, so an arm that preserves
/// channels (the identity) determines the width of the other one.
struct Architecture {
  Shape input;
  Shape output;
  std::vector<Stage> stages;
  std::vector<WeightSlot> slots;
  Index dropouts = 0;

  /// Returns whether any slot is trained.
  [[nodiscard]] bool trains() const;
  /// Throws Error{input} as infer_shapes, and if the arms of a residual cannot have equal widths; Error{usage} for
  /// networks on graphs, and if the number of widths does not match the layers.
  [[nodiscard]] static Architecture make(const Network& network, const Shape& input, const Widths& widths);
  /// Returns whether the last layer is a dense readout, whose input determines the covariance of the output.
  [[nodiscard]] bool ends_in_dense() const;
};

}  // namespace widelimit
