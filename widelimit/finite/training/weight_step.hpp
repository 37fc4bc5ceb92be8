#pragma once

#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/training/optimiser.hpp"

namespace widelimit {

/// One step of one slot: G = w_scale·Σ a dᵀ is the gradient of the losses; the optimiser (optimiser.hpp) updates W with
///   g = G + l2·(W − anchor) + weight_decay·W,
/// and likewise the bias. A step that is linear in g does not store the gradient: G is added to the velocity, or to W
/// itself, which is read and written once, tile by tile, since a product of 128 samples is otherwise memory-bound. A
/// small W with many rows to sum, as in convolutions, is computed in blocks of rows, added in order.
template <std::floating_point T>
struct SlotStep {
  double rate = 0;
  double l2 = 0;
  const Weights<T>* anchor = nullptr;  ///< null: zero
  Optimiser optimiser = {};
  Index steps = 0;                 ///< number of previous steps
  Weights<T>* velocity = nullptr;  ///< v with momentum, m of Adam
  Weights<T>* squares = nullptr;   ///< s of Adam
  Values<T>* scratch = nullptr;    ///< scratch buffer for gradients that are stored
};

/// Takes the step. O(samples · positions · weights). Results do not depend on the number of threads. If the engine has
/// layers, all work is done in its memory; an engine with separate memory but without layers computes the product of
/// the whole slot on copies.
template <std::floating_point T>
void step_slot(const WeightSlot& slot, const GradientFactors<T>& gradient, const SlotStep<T>& step,
               const Engine& engine, Weights<T>& weights);

/// Computes weights += factor·gradient over all trained slots.
template <std::floating_point T>
void add_gradient(const Architecture& architecture, const Gradient<T>& gradient, double factor, Parameters<T>& weights,
                  const Engine& engine);

}  // namespace widelimit
