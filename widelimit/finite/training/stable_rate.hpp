#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <optional>

namespace widelimit {

/// Quantities that determine a stable learning rate.
struct RateProblem {
  Loss loss;
  double lambda = 0;  ///< curvature of the penalty
  Index batch = 0;    ///< samples per step; 0: all
  /// Root mean square of the slopes l' of a sample at outputs 0: bounds the distance of the first step. 0: a network
  /// that is linear in its weights, without a limit on the distance.
  double slope = 0;
  Progress* progress = nullptr;  ///< polled between products
};

/// Returns the curvature c assumed for a loss in the choice of a rate: its largest curvature, but at least 1, since the
/// kernel of a narrow network grows in training, most if slopes do not vanish with the error; 10 for a loss with
/// kinks, so that a step changes outputs by about a tenth of the margin unit.
[[nodiscard]] double descent_curvature(LossKind kind);

/// Returns the largest rate at which gradient descent is stable while the weights move little: 2/(λ + c·λ_max(Θ̂)), c
/// the largest curvature l'' of the loss. std::nullopt for losses without curvature, and if λ_max is not positive and
/// finite. λ_max is estimated from at most 256 samples by power iteration on products with Θ̂ and scaled up in
/// proportion to the number of samples; accurate to some tens of per cent. For batches it is that of the batch's
/// samples with weights n/|B|. Costs a few dozen passes over these samples.
template <std::floating_point T>
[[nodiscard]] std::optional<double> stable_rate(const Architecture& architecture, const Parameters<T>& parameters,
                                                const Tensor<T>& x, const RateProblem& problem, const Engine& engine);

/// Returns the default rate: at most half of stable_rate, 1/(λ + c·λ_max) with c of descent_curvature(loss), and half
/// of that for batches. The first step, whose gradient is at most slope·√(n·λ_max), moves weights by at most a fifth of
/// the norm of the smallest trained layer: with small kernels and narrow networks, longer steps leave the regime
/// described by Θ̂. 1/(λ + 1) if no gradient depends on the weights.
template <std::floating_point T>
[[nodiscard]] double default_rate(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                                  const RateProblem& problem, const Engine& engine);

/// Returns the default rate of Adam. Its steps change every weight by about the rate, in the direction that decreases
/// the loss: together, fan_in weights change the output of a layer by up to w_scale·fan_in·rate per unit of its inputs,
/// while the initial weights give w_scale·√fan_in·w_start. The rate limits this ratio to one half for every trained
/// layer: min 0.5·w_start/√fan_in. In the standard parameterisation it decreases as 1/width (Yang et al., NeurIPS
/// 2021).
[[nodiscard]] double adaptive_rate(const Architecture& architecture);

}  // namespace widelimit
