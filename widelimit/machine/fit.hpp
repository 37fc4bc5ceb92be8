#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/machine/summary.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Coefficients of a fitted machine: g(x) = Σᵢ αᵢ K(x, xᵢ) + b for each output.
struct Fit {
  Matrix<double> alpha;      ///< samples × outputs
  std::vector<double> bias;  ///< one per output; zeros for homogeneous machines, as in EQ
  Summary summary;
};

/// Returns a fit with all coefficients 0.
[[nodiscard]] Fit zero_fit(Index samples, Index outputs);
/// Whether all coefficients are finite.
[[nodiscard]] bool all_finite(const Fit& fit);

/// Returns g at test points, test × outputs, from K(test, train), on all processors of the host or on the given engine.
/// Accumulates in float64. Throws Error{input} unless K has one column per sample of the fit and is finite,
/// Error{numerical} if an output overflows.
/// O(test·train·outputs).
[[nodiscard]] Matrix<double> decision(const Fit& fit, const AnyView& test_by_train);
[[nodiscard]] Matrix<double> decision(const Fit& fit, const AnyView& test_by_train, const Engine& engine);
/// Same for a matrix stored on the engine, which must be finite.
[[nodiscard]] Matrix<double> decision(const Fit& fit, const EngineMatrix& test_by_train, const Engine& engine);

/// Throws Error{input} unless `targets` has `samples` rows of finite numbers and at least one column.
void check_targets(MatrixView<const double> targets, Index samples);
/// Throws Error{input} unless Σy² is in the range of float64, as likelihoods, leave-one-out errors and conjugate
/// gradients need.
void check_squares(MatrixView<const double> targets);

/// Checks the weights wᵢ ≥ 0 of the samples in Σ wᵢ l(g(xᵢ), yᵢ); empty means all 1. Throws Error{input} unless there
/// are `samples` weights, finite, not negative and not all zero.
void check_weights(std::span<const double> weights, Index samples);
/// Returns the indices of the samples with nonzero weight, or std::nullopt if all weights are nonzero.
[[nodiscard]] std::optional<std::vector<Index>> positive_weight_samples(std::span<const double> weights);
/// Expands a fit to the samples `kept` to all `samples`: the other coefficients are 0.
[[nodiscard]] Fit among_all(Fit fit, std::span<const Index> kept, Index samples);

}  // namespace widelimit
