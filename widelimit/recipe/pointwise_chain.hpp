#pragma once

#include "widelimit/network/activation.hpp"
#include "widelimit/recipe/pointwise.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// φ(x) = positive·x for x ≥ 0, negative·x below: relu is (1, 0), abs (1, −1), leaky_relu (1, slope), a scale (a, a).
/// Closed under composition.
struct TwoSlopes {
  double positive = 1.0;
  double negative = 1.0;
  [[nodiscard]] bool is_scale() const { return positive == negative; }
  bool operator==(const TwoSlopes&) const = default;
};

/// Functions of one variable applied one after the other, x ↦ φ_k(…φ₁(x)), in the simplest form that is exact:
/// two-slope functions in a row are one, and of a value that is never negative (relu, abs, sigmoid, softplus, exp,
/// gaussian, even powers) they are a scale. So relu∘relu = relu, abs∘relu = relu, relu∘abs = abs, relu∘sigmoid =
/// sigmoid, and identity is nothing.
class PointwiseChain {
 public:
  void append(const Activation& activation);
  void append(const TwoSlopes& slopes);

  [[nodiscard]] bool empty() const { return links_.empty(); }
  /// Every function is odd, so that the mean over a centred Gaussian is 0.
  [[nodiscard]] bool is_odd() const;
  /// No value is negative.
  [[nodiscard]] bool is_nonnegative() const;

  /// The chain as one function followed by a factor: a two-slope function, an activation, or what only quadrature can
  /// integrate.
  struct Reduced {
    std::variant<TwoSlopes, Activation, std::vector<Activation>> function;
    double factor = 1.0;
  };
  [[nodiscard]] Reduced reduced() const;

 private:
  using Link = std::variant<TwoSlopes, Activation>;
  std::vector<Link> links_;
};

/// φ_k∘…∘φ₁ with its derivative by the chain rule; a user's function among them leaves it without one.
[[nodiscard]] std::shared_ptr<const Pointwise> compose(const std::vector<Activation>& chain);

}  // namespace widelimit
