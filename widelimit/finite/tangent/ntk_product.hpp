#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

#include <concepts>
#include <optional>

namespace widelimit {

/// Returns Θ̂(x1, x2)·v without the matrix: J(x1)·(J(x2)ᵀ·v), one backward pass and one tangent pass. `v` has one value
/// per output and sample of x2, the result one per output and sample of x1. Costs five forward passes; `progress` is
/// polled between layers.
template <std::floating_point T>
[[nodiscard]] Tensor<T> ntk_product(const Architecture& architecture, const Parameters<T>& parameters,
                                    const Tensor<T>& x1, const Tensor<T>& x2, const Tensor<T>& v,
                                    const Engine& engine = all_processors(), Progress* progress = nullptr);

struct PowerMethodOptions {
  int max_iterations = 100;
  double tolerance = 1e-3;  ///< relative change at which the iteration stops; 0 runs all iterations
};

/// Returns a lower estimate of λ_max of the empirical NTK Θ̂(X, X) over all outputs, by the power method from a fixed
/// random vector; std::nullopt if the estimate is not positive and finite. One product with Θ̂ per iteration.
template <std::floating_point T>
[[nodiscard]] std::optional<double> largest_eigenvalue(const Architecture& architecture,
                                                       const Parameters<T>& parameters, const Tensor<T>& x,
                                                       const PowerMethodOptions& options, const Engine& engine,
                                                       Progress* progress);

}  // namespace widelimit
