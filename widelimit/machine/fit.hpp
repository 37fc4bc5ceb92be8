#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/machine/summary.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// What every fitted machine is: g(x) = Σᵢ αᵢ K(x, xᵢ) + b, for each of its outputs.
struct Fit {
  Matrix<double> alpha;      ///< samples × outputs
  std::vector<double> bias;  ///< one per output; zeros in the homogeneous case, which is EQ's
  Summary summary;
};

/// g on new points: test × outputs, of K(test, train). Sums in float64. Error{input} unless K has a column for each
/// sample of the fit and all of it is finite.  O(test·train·outputs).
[[nodiscard]] Matrix<double> decision(const Fit& fit, const AnyView& test_by_train);

/// Weights wᵢ ≥ 0 of the samples in Σ wᵢ l(g(xᵢ), yᵢ), or none, which means 1. Error{input} unless there are `samples`
/// of them, finite, not negative and not all zero.
void check_weights(std::span<const double> weights, Index samples);
/// The samples whose weight is not 0, where some weights are; nothing where all take part.
[[nodiscard]] std::optional<std::vector<Index>> weighty_samples(std::span<const double> weights);
/// A fit to those samples as one to all `samples`: the coefficients of the others are 0.
[[nodiscard]] Fit among_all(Fit fit, std::span<const Index> kept, Index samples);

}  // namespace widelimit
