#pragma once

#include "widelimit/engine/cpu/vector/unit_rows.hpp"

#include <type_traits>
#include <vector>

/// The per-sample part of networks on vectors, the same for every engine that evaluates pairs from it.
namespace widelimit::cpu {

/// t = 1 − |ρ| below which it is recomputed from the inputs: 1 − ρ of the matrix product has an absolute error of some
/// ulps, and arccos ρ ~ √(2t) turns an error ε into ε/√(2t).
template <typename T>
constexpr T near_one = std::is_same_v<T, float> ? T(0x1p-8) : T(0x1p-10);

/// Deviations outside [1/float_safe, float_safe] do not fit the float that outputs are written with.
constexpr double float_safe = 1e15;

template <typename T>
struct VectorSamples {
  UnitRows<T> unit;                ///< inputs divided by their norms
  std::vector<Features> features;  ///< one for each step; emit: the deviations
  /// Samples with a deviation outside float_safe at an emit step; none where there are none.
  std::vector<bool> wide;
  Matrix<double> diagonal;  ///< outputs × n, of each sample with itself
  double error = 0.0;       ///< of quadrature
};

/// Norms, and per-sample quantities of all steps.  O(n·(d + steps)).
template <typename T>
[[nodiscard]] VectorSamples<T> load_vector_samples(const Recipe& recipe, const SampleView& x, Precision precision,
                                                   int threads);
/// What that takes for one sample of `x`: what is kept, and what is alive beside it while it is made.
template <typename T>
[[nodiscard]] std::size_t vector_sample_bytes(const Recipe& recipe, const SampleView& x);

/// States that are alive at once: one, and one more for each branch not yet joined.
[[nodiscard]] Index deepest_stack(const Recipe& recipe);

}  // namespace widelimit::cpu
