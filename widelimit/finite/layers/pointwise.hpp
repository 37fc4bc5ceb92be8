#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/architecture.hpp"
#include "widelimit/finite/layers/tensor.hpp"

#include <cstdint>

namespace widelimit {

/// φ at every value.
template <std::floating_point T>
void activate(const Stage& stage, const Activation& activation, const Tensor<T>& input, Tensor<T>& output,
              const Engine& engine);
/// signal ∘ φ'(input). A user's φ' is a central difference with step ∛eps·max(1,|x|): relative error about eps^⅔.
template <std::floating_point T>
void activate_signal(const Stage& stage, const Activation& activation, const Tensor<T>& input, const Tensor<T>& signal,
                     Tensor<T>& back, const Engine& engine);

/// Per position: minus the mean over channels, divided by the standard deviation over channels; zero where all
/// channels are equal.
template <std::floating_point T>
void normalise(const Tensor<T>& input, Tensor<T>& output, const Engine& engine);
/// The Jacobian is symmetric: the same function takes a signal back and a change forward.
template <std::floating_point T>
void normalise_signal(const Tensor<T>& input, const Tensor<T>& signal, Tensor<T>& back, const Engine& engine);

/// Values times `by`; linear and symmetric, so the signal passes through the same function.
template <std::floating_point T>
void rescale(const Scale& scale, const Tensor<T>& input, Tensor<T>& output, const Engine& engine);

/// Where dropout masks come from: the mask of a value is a pure function of (seed, dropout layer, sample number,
/// place in the sample).
struct DropoutDraw {
  std::uint64_t seed = 0;
  Index first_sample = 0;  ///< number of the first sample of a batch; a sample keeps its mask in any batch
};
/// Training mode: values kept with probability `rate` and divided by it, the others zero. Its own transpose, so the
/// signal passes through the same function.
template <std::floating_point T>
void drop(const Dropout& dropout, Index layer, const DropoutDraw& draw, const Tensor<T>& input, Tensor<T>& output,
          const Engine& engine);

}  // namespace widelimit
