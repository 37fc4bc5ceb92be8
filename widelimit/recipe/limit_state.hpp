#pragma once

#include "widelimit/network/layer.hpp"
#include "widelimit/recipe/pointwise_chain.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Why max_pool has no formula, whatever it reads.
constexpr std::string_view max_pool_reason = "takes a maximum; avg_pool has a formula";

/// What the values of one layer are in the limit, unit by unit: whether the formulas of the next layer hold for them.
///                                                                    [docs/theory/kernels.md, Where a dual may be
///                                                                    applied]
///
/// Layers that act on each unit alone are deferred until another kind of layer comes: consecutive activations are one
/// function of a Gaussian, and one that follows flatten may as well come before it. settle() hands out what was held
/// back. Methods return why a layer has no formula here, in words that go on after its name; empty where it has one.
class LimitState {
 public:
  /// `one_position`: the network reads vectors.
  explicit LimitState(bool one_position) : one_position_(one_position) {}

  [[nodiscard]] std::string_view activate(const Activation& activation);
  /// True where the factor was deferred with the activation before it; false where it is to be applied now.
  [[nodiscard]] bool scale(double by);
  void flatten();

  struct Pending {
    PointwiseChain chain;
    bool flatten = false;
  };
  /// The deferred layers, to be applied now. Every method below comes after it.
  [[nodiscard]] Pending settle();

  /// dense, conv: sums over infinitely many units with weights of their own.
  void weigh();
  void pool(bool over_all_positions);
  void drop(double rate);
  [[nodiscard]] std::string_view normalise();
  [[nodiscard]] std::string_view attend();

  /// Both arms of a residual begin with what the state is now.
  void fork() { fresh_.push_back(false); }
  /// True where a branch that starts with these layers extends the deferred ones.
  [[nodiscard]] bool continues(const Layers& arm) const;
  /// The sum of two arms, this one and the other.
  [[nodiscard]] std::string_view join(const LimitState& other);

 private:
  enum class Law : std::uint8_t {
    input,     ///< numbers, as many as the input has
    gaussian,  ///< independent from unit to unit, jointly over samples and positions, mean zero
    other,     ///< independent from unit to unit, second moments known
  };

  Law law_ = Law::input;
  std::string_view what_ = "reads the network's inputs, which are not Gaussian";
  bool zero_mean_ = false;  ///< over units
  bool nonnegative_ = false;
  bool settled_ = true;  ///< second moments are numbers, not random: sums over infinitely many units, or no randomness
  bool one_position_;
  PointwiseChain chain_;     ///< deferred; acts on Gaussian values
  bool flatten_ = false;     ///< deferred
  std::vector<bool> fresh_;  ///< for each open residual: weights have come since it began
};

}  // namespace widelimit
