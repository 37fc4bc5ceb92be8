#pragma once

#include "widelimit/network/activation.hpp"
#include "widelimit/recipe/pointwise.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// φ(x) = positive·x for x ≥ 0, negative·x otherwise: relu is (1, 0), abs (1, −1), leaky_relu (1, slope), a scale (a,
/// a). Closed under composition.
struct TwoSlopes {
  double positive = 1.0;
  double negative = 1.0;
  [[nodiscard]] bool is_scale() const { return positive == negative; }
  bool operator==(const TwoSlopes&) const = default;
};

/// Composition of functions of one variable, x ↦ φ_k(…φ₁(x)), simplified exactly: consecutive two-slope functions are
/// merged, and a two-slope function of a non-negative value (after relu, abs, sigmoid, softplus, exp, gaussian, even
/// powers) becomes a scale. So relu∘relu = relu, abs∘relu = relu, relu∘abs = abs, relu∘sigmoid = sigmoid, and identity
/// is dropped.
class PointwiseChain {
 public:
  void append(const Activation& activation);
  void append(const TwoSlopes& slopes);

  [[nodiscard]] bool empty() const { return links_.empty(); }
  /// Whether every function is odd, so that the mean over a centred Gaussian is 0.
  [[nodiscard]] bool is_odd() const;
  /// Whether all values are known to be non-negative.
  [[nodiscard]] bool is_nonnegative() const;

  /// The chain as one function followed by a factor: a two-slope function, an activation, or a composition that
  /// requires quadrature.
  struct Reduced {
    std::variant<TwoSlopes, Activation, std::vector<Activation>> function;
    double factor = 1.0;
  };
  [[nodiscard]] Reduced reduced() const;

 private:
  using Link = std::variant<TwoSlopes, Activation>;
  std::vector<Link> links_;
};

/// φ_k∘…∘φ₁ with its derivative by the chain rule; without a derivative if a custom function is among them.
[[nodiscard]] std::shared_ptr<const Pointwise> compose(const std::vector<Activation>& chain);

}  // namespace widelimit
