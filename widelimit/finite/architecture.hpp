#pragma once

#include "widelimit/network/network.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// How wide a network is made.
struct Widths {
  Index hidden = 256;  ///< channels of every dense, conv and attention layer, and attention's query dimension
  Index outputs = 1;   ///< channels of the last layer, where that is dense or conv
  void validate() const;
};

/// One trained matrix W (fan_in × fan_out) with its bias: z = w_scale·aW + b_std·b.       [mathematics §1]
struct WeightSlot {
  Index fan_in = 0;  ///< conv: window positions × channels
  Index fan_out = 0;
  double w_scale = 1.0;  ///< w_std/√fan_in
  double b_std = 0.0;
};

/// A layer of a network that has widths.
struct Stage {
  Layer layer;
  std::string place;  ///< "3", or "3.branch.1" inside a residual
  Shape in;
  Shape out;
  Index slot = 0;                          ///< first weight slot: dense and conv have one, attention three
  Index dropout = 0;                       ///< which dropout layer this is, in order of evaluation
  std::shared_ptr<const Function> custom;  ///< a user's activation
  std::vector<Stage> branch;               ///< residual
  std::vector<Stage> shortcut;             ///< residual; empty is the identity
};

/// A network with widths: what finite networks evaluate. Widths are `hidden` except where something fixes them: the
/// last layer has `outputs`, and the two arms of a residual must end equally wide, so an arm that passes channels
/// through (the identity) imposes its width on the other one.
struct Architecture {
  Shape input;
  Shape output;
  std::vector<Stage> stages;
  std::vector<WeightSlot> slots;
  Index dropouts = 0;

  /// Error{input} as in infer_shapes, and where the arms of a residual cannot be made equally wide.
  [[nodiscard]] static Architecture make(const Network& network, const Shape& input, const Widths& widths);
  /// True where the last layer is a dense readout: its input carries all there is to know of the output's variance.
  [[nodiscard]] bool ends_in_dense() const;
};

}  // namespace widelimit
