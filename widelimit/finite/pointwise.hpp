#pragma once

#include "widelimit/finite/architecture.hpp"
#include "widelimit/finite/tensor.hpp"

#include <cstdint>

namespace widelimit {

/// φ at every value.
[[nodiscard]] Tensor activate(const Stage& stage, const Activation& activation, const Tensor& input);
/// signal ∘ φ'(input). A user's φ' is a central difference with step ∛eps·max(1,|x|): relative error about eps^⅔.
[[nodiscard]] Tensor activate_signal(const Stage& stage, const Activation& activation, const Tensor& input,
                                     const Tensor& signal);

/// Per position: minus the mean over channels, divided by the standard deviation over channels; zero where all
/// channels are equal.
[[nodiscard]] Tensor normalise(const Tensor& input);
[[nodiscard]] Tensor normalise_signal(const Tensor& input, const Tensor& signal);

/// Values times `by`; linear and symmetric, so the signal passes through the same function.
[[nodiscard]] Tensor rescale(const Scale& scale, Tensor values);

/// Where dropout masks come from: the mask of a value is a pure function of (seed, dropout layer, sample number,
/// place in the sample).
struct DropoutDraw {
  std::uint64_t seed = 0;
  Index first_sample = 0;  ///< number of the first sample of a batch; a sample keeps its mask in any batch
};
/// Training mode: values kept with probability `rate` and divided by it, the others zero. Its own transpose, so the
/// signal passes through the same function.
[[nodiscard]] Tensor drop(const Dropout& dropout, Index layer, const DropoutDraw& draw, Tensor values);

}  // namespace widelimit
