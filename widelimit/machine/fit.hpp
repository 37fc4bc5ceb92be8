#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/machine/summary.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// A fitted machine: g(x) = Σᵢ αᵢ K(x, xᵢ) + b for each output.
struct Fit {
  Matrix<double> alpha;      ///< samples × outputs
  std::vector<double> bias;  ///< one per output; zeros for homogeneous machines, as in EQ
  Summary summary;
};

/// g on new points: test × outputs, of K(test, train), on all processors of this machine or on a given engine. Sums in
/// float64. Error{input} unless K has a column for each sample of the fit and all of it is finite.
/// O(test·train·outputs).
[[nodiscard]] Matrix<double> decision(const Fit& fit, const AnyView& test_by_train);
[[nodiscard]] Matrix<double> decision(const Fit& fit, const AnyView& test_by_train, const Engine& engine);
/// The same of a matrix that the engine holds, which is finite.
[[nodiscard]] Matrix<double> decision(const Fit& fit, const EngineMatrix& test_by_train, const Engine& engine);

/// Error{input} unless there is a row of finite numbers for each of `samples`, and at least one column.
void check_targets(MatrixView<const double> targets, Index samples);

/// Weights wᵢ ≥ 0 of the samples in Σ wᵢ l(g(xᵢ), yᵢ), or none, which means 1. Error{input} unless there are `samples`
/// of them, finite, not negative and not all zero.
void check_weights(std::span<const double> weights, Index samples);
/// Indices of the samples with non-zero weight; empty where all have one.
[[nodiscard]] std::optional<std::vector<Index>> weighty_samples(std::span<const double> weights);
/// A fit to those samples as one to all `samples`: the coefficients of the others are 0.
[[nodiscard]] Fit among_all(Fit fit, std::span<const Index> kept, Index samples);

}  // namespace widelimit
