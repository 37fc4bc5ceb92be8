#pragma once

#include "widelimit/engine/cpu/vector/unit_rows.hpp"

#include <type_traits>
#include <vector>

/// The per-sample part of networks on vectors, shared by all engines.
namespace widelimit::cpu {

/// Bound of t = 1 − |ρ| below which t is recomputed from the inputs: 1 − ρ of the matrix product has an absolute error
/// of several ulps, and arccos ρ ~ √(2t) turns an error ε into ε/√(2t).
template <typename T>
constexpr T near_one = std::is_same_v<T, float> ? T(0x1p-8) : T(0x1p-10);

/// Standard deviations outside [1/float_safe, float_safe] exceed the range of the float output path.
constexpr double float_safe = 1e15;

template <typename T>
struct VectorSamples {
  UnitRows<T> unit;                ///< inputs divided by their norms
  std::vector<Features> features;  ///< one per step; emit: the standard deviations
  /// Samples with a standard deviation outside float_safe at an emit step; empty if there are none.
  std::vector<bool> wide;
  Matrix<double> diagonal;  ///< outputs × n, each sample with itself
  double error = 0.0;       ///< quadrature error
};

/// Computes norms and per-sample quantities of all steps.  O(n·(d + steps)).
template <typename T>
[[nodiscard]] VectorSamples<T> load_vector_samples(const Recipe& recipe, const SampleView& x, Precision precision,
                                                   int threads);
/// Returns the memory of load per sample of `x`: the result and temporaries.
template <typename T>
[[nodiscard]] std::size_t vector_sample_bytes(const Recipe& recipe, const SampleView& x);

/// Returns the maximum number of live states: one, plus one per branch not yet joined.
[[nodiscard]] Index deepest_stack(const Recipe& recipe);

}  // namespace widelimit::cpu
