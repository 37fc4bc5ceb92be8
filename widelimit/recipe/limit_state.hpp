#pragma once

#include "widelimit/network/layer.hpp"
#include "widelimit/recipe/pointwise_chain.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Reason that max_pool has no formula, for any input.
constexpr std::string_view max_pool_reason = "takes a maximum; avg_pool has a formula";

/// Distribution of the values of one layer in the limit, per unit; determines whether the formulas of the next layer
/// apply. [docs/theory/kernels.md, Where a dual may be applied]
///
/// Layers that act on each unit separately are deferred until another kind of layer follows: consecutive activations
/// form one function of a Gaussian, and one after flatten commutes with it. take_deferred() returns the deferred
/// layers. Methods return the reason that a layer has no formula, phrased as continuation of the layer's name; empty if
/// it has one.
class LimitState {
 public:
  /// `one_position`: the network acts on vectors.
  explicit LimitState(bool one_position) : one_position_(one_position) {}

  [[nodiscard]] std::string_view activate(const Activation& activation);
  /// Returns true if the factor was deferred with the preceding activation; false if it must be applied now.
  [[nodiscard]] bool scale(double by);
  void flatten();

  struct Pending {
    PointwiseChain chain;
    bool flatten = false;
  };
  /// Returns the deferred layers, to be applied now. Must be called before any method below.
  [[nodiscard]] Pending take_deferred();

  /// dense, conv: sums over infinitely many units with independent weights.
  void weigh();
  void pool(bool over_all_positions);
  void drop(double rate);
  [[nodiscard]] std::string_view normalise();
  [[nodiscard]] std::string_view attend();

  /// Starts a residual: both branches start from the current state.
  void fork() { fresh_.push_back(false); }
  /// Whether a branch that starts with these layers extends the deferred ones.
  [[nodiscard]] bool continues(const Layers& arm) const;
  /// Ends a residual: the sum of this branch and the other.
  [[nodiscard]] std::string_view join(const LimitState& other);

 private:
  enum class Distribution : std::uint8_t {
    input,     ///< finitely many numbers, the network inputs
    gaussian,  ///< independent across units, jointly Gaussian over samples and positions, mean zero
    other,     ///< independent across units, known second moments
  };

  Distribution distribution_ = Distribution::input;
  std::string_view what_ = "reads the network's inputs, which are not Gaussian";
  bool zero_mean_ = false;  ///< mean over units
  bool nonnegative_ = false;
  bool deterministic_moments_ =
      true;  ///< second moments are deterministic: sums over infinitely many units, or no randomness
  bool one_position_;
  PointwiseChain chain_;     ///< deferred; acts on Gaussian values
  bool flatten_ = false;     ///< deferred
  std::vector<bool> fresh_;  ///< for each open residual: a weight layer occurred since its start
};

}  // namespace widelimit
