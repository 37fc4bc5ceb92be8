#pragma once

#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/training/optimiser.hpp"

namespace widelimit {

/// One step of one slot: G = w_scale·Σ a dᵀ is the gradient of the losses, and the optimiser (optimiser.hpp) moves W by
///   g = G + pull·(W − anchor) + weight_decay·W,
/// and the same for the bias. A step that is linear in g stores no gradient: G is added to the velocity, or to W
/// itself, which is read and written once, tile by tile: a product of 128 samples into it is bound by memory otherwise.
/// A small W with many rows to sum, as convolutions have, is a product in pieces of rows, added in their order.
template <std::floating_point T>
struct SlotStep {
  double rate = 0;
  double pull = 0;
  const Weights<T>* anchor = nullptr;  ///< none: zero
  Optimiser optimiser = {};
  Index steps = 0;                 ///< taken before this one
  Weights<T>* velocity = nullptr;  ///< v with momentum, m of Adam
  Weights<T>* squares = nullptr;   ///< s of Adam
  Values<T>* scratch = nullptr;    ///< memory to use again, where gradients are stored
};

/// O(samples · positions · weights). Numbers do not depend on the threads. Where the engine has layers, all of it
/// happens in its memory; where it has memory of its own without them, it makes the product of the whole slot on
/// copies.
template <std::floating_point T>
void step_slot(const WeightSlot& slot, const GradientFactors<T>& gradient, const SlotStep<T>& step,
               const Engine& engine, Weights<T>& weights);

/// weights += factor·gradient, over all trained slots.
template <std::floating_point T>
void add_gradient(const Architecture& architecture, const Gradient<T>& gradient, double factor, Parameters<T>& weights,
                  const Engine& engine);

}  // namespace widelimit
