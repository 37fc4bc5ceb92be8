#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/architecture.hpp"
#include "widelimit/finite/layers/tensor.hpp"

#include <cstdint>

namespace widelimit {

/// Applies φ to every value.
template <std::floating_point T>
void activate(const Stage& stage, const Activation& activation, const Tensor<T>& input, Tensor<T>& output,
              const Engine& engine);
/// Computes signal ∘ φ'(input). φ' of a custom activation is a central difference with step ∛eps·max(1,|x|): relative
/// error about eps^⅔.
template <std::floating_point T>
void activate_signal(const Stage& stage, const Activation& activation, const Tensor<T>& input, const Tensor<T>& signal,
                     Tensor<T>& back, const Engine& engine);

/// Layer normalisation per position: subtracts the mean over channels and divides by the standard deviation over
/// channels; zero if all channels are equal.
template <std::floating_point T>
void normalise(const Tensor<T>& input, Tensor<T>& output, const Engine& engine);
/// The Jacobian is symmetric: the same function computes vector–Jacobian and Jacobian–vector products.
template <std::floating_point T>
void normalise_signal(const Tensor<T>& input, const Tensor<T>& signal, Tensor<T>& back, const Engine& engine);

/// Multiplies values by `by`; linear and symmetric, so the same function applies to the signal.
template <std::floating_point T>
void rescale(const Scale& scale, const Tensor<T>& input, Tensor<T>& output, const Engine& engine);

/// Source of dropout masks: the mask of a value is a pure function of (seed, dropout layer, sample index, position in
/// the sample).
struct DropoutDraw {
  std::uint64_t seed = 0;
  Index first_sample = 0;  ///< index of the first sample of a batch; the mask of a sample does not depend on its batch
};
/// Dropout in training: keeps values with probability `rate` and divides them by it; sets the others to zero.
/// Self-adjoint, so the same function applies to the signal.
template <std::floating_point T>
void drop(const Dropout& dropout, Index layer, const DropoutDraw& draw, const Tensor<T>& input, Tensor<T>& output,
          const Engine& engine);

}  // namespace widelimit
