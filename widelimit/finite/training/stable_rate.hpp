#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <optional>

namespace widelimit {

/// What a learning rate has to suit.
struct RateProblem {
  Loss loss;
  double lambda = 0;  ///< curvature of the penalty
  Index batch = 0;    ///< samples of a step; 0: all
  /// Root mean square of the slopes l' of a sample at outputs 0: bounds how far the first step moves the weights. 0: a
  /// network that is linear in its weights, which may move as far as it likes.
  double slope = 0;
  Progress* progress = nullptr;  ///< asked between two products
};

/// The curvature c that a loss is taken to have where a rate is chosen: its own, but 1 at least, since the kernel of a
/// narrow network grows in training, most where slopes do not vanish with the error; 10 for a loss with kinks, so that
/// a step moves outputs by about a tenth of the unit in which margins are measured.
[[nodiscard]] double descent_curvature(LossKind kind);

/// Largest rate at which descent does not diverge while the weights move little: 2/(λ + c·λ_max(Θ̂)), c the largest
/// curvature l'' of the loss. Nothing for losses without curvature, and where λ_max is no positive number. λ_max is
/// that of at most 256 samples, by the power method on products with Θ̂, and grown in proportion to what is left out: an
/// estimate, good to some tens of per cent. Of a batch it is that of the batch's samples, each weighted n/|B|.
/// As costly as a few dozen passes over those samples.
template <std::floating_point T>
[[nodiscard]] std::optional<double> stable_rate(const Architecture& architecture, const Parameters<T>& parameters,
                                                const Tensor<T>& x, const RateProblem& problem, const Engine& engine);

/// The rate of a training that is given none: at most half of stable_rate, 1/(λ + c·λ_max) with c of
/// descent_curvature(loss). Batches take half of that. The first step moves weights, whose gradient is at most
/// slope·√(n·λ_max), by no more than a fifth of the norm of the smallest trained layer: where kernels are small and
/// networks narrow, longer steps leave the regime that Θ̂ describes. 1/(λ + 1) where no gradient depends on the weights.
template <std::floating_point T>
[[nodiscard]] double default_rate(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                                  const RateProblem& problem, const Engine& engine);

/// The rate of Adam where none is given. Its steps move every weight by about the rate, in the direction that lowers
/// the loss: fan_in of them together move what a layer gives by up to w_scale·fan_in·rate per unit of its inputs, where
/// the weights of the start give w_scale·√fan_in·w_start. The rate moves no trained layer by more than half of that:
/// min 0.5·w_start/√fan_in. In the standard parameterisation it falls as 1/width (Yang et al., NeurIPS 2021).
[[nodiscard]] double adaptive_rate(const Architecture& architecture);

}  // namespace widelimit
