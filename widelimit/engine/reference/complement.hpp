#pragma once

#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <span>

/// Propagation of rr' ∓ Σ and q − q' through sums and activations without subtracting nearly equal numbers.
/// [docs/theory/numerics.md]
namespace widelimit::reference {

/// One coordinate of two vectors of standard deviations.
struct Deviations {
  long double first, second;
  long double difference;  ///< first − second
};

/// √q, √q' and √q − √q' from q, q' and q − q'.
[[nodiscard]] Deviations deviations_of(long double q1, long double q2, long double excess);

/// ‖r‖‖r'‖ − ⟨r, r'⟩ ≥ 0, computed from the part of r − r' orthogonal to r'; for vectors of different size, from the
/// part of the smaller one orthogonal to the larger.
[[nodiscard]] long double cauchy_difference(std::span<const Deviations> terms);

/// Input of an activation for a pair: the covariances, rr' ∓ Σ and q − q'.
struct ActivationInput {
  GaussianPair<long double> pair;
  long double excess;            ///< q1 − q2
  long double square1, square2;  ///< E[φ(u)²], E[φ(v)²]
};
struct ActivationOutput {
  DualValue<long double> value;
  long double minus, plus, excess;
};
[[nodiscard]] ActivationOutput activate(const Recipe& recipe, const Dual& dual, const ActivationInput& input);

}  // namespace widelimit::reference
