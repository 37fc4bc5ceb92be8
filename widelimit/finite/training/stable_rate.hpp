#pragma once

#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <optional>

namespace widelimit {

/// Largest rate at which full-batch descent does not diverge while the weights move little: 2/(λ + c·λ_max(Θ̂)), c the
/// largest curvature l'' of the loss. Nothing for losses without curvature. λ_max is that of at most 256 samples, by
/// the power method on products with Θ̂, and grown in proportion to what is left out: an estimate, good to some tens of
/// per cent.  As costly as a few dozen passes over those samples.
template <std::floating_point T>
[[nodiscard]] std::optional<double> stable_rate(const Architecture& architecture, const Parameters<T>& parameters,
                                                const Tensor<T>& x, const Loss& loss, double lambda, int threads);

}  // namespace widelimit
