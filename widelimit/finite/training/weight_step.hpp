#pragma once

#include "widelimit/finite/backward.hpp"

namespace widelimit {

/// One step of one slot: with G = w_scale·Σ a dᵀ the gradient of the losses,
///   v ← momentum·v − rate·(pull·(W − anchor) + G),   W ← W + v,
/// and the same for the bias. Without velocity momentum is 0 and v is never stored. W is read and written once, tile by
/// tile: a product of 128 samples into it is bound by memory otherwise. A small W with many rows to sum, as
/// convolutions have, is a product in pieces of rows, added in their order.
template <std::floating_point T>
struct SlotStep {
  double rate = 0;
  double pull = 0;
  const Weights<T>* anchor = nullptr;  ///< none: zero
  double momentum = 0;
  Weights<T>* velocity = nullptr;
  std::vector<T>* scratch = nullptr;  ///< memory to use again, where the product is made in pieces
};

/// O(samples · positions · weights). Numbers do not depend on the threads. Where the engine has memory of its own, it
/// makes the product of the whole slot on copies.
template <std::floating_point T>
void step_slot(const WeightSlot& slot, const GradientFactors<T>& gradient, const SlotStep<T>& step,
               const Engine& engine, Weights<T>& weights);

/// weights += factor·gradient, over all trained slots.
template <std::floating_point T>
void add_gradient(const Architecture& architecture, const Gradient<T>& gradient, double factor, Parameters<T>& weights,
                  const Engine& engine);

}  // namespace widelimit
