#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"

#include <cstdint>

namespace widelimit {

/// Random changes of training images that leave their class as it is, drawn anew in every step (He, Zhang, Ren, Sun,
/// CVPR 2016): a mirror image with probability ½, and the image moved by up to `crop` pixels along each axis, zeros
/// where it moved away from (padding by `crop` and a random crop of the old size).
struct Augmentation {
  bool flip = false;
  Index crop = 0;

  [[nodiscard]] bool any() const { return flip || crop > 0; }
  /// Error{usage} for a crop below 0.
  void validate() const;
  bool operator==(const Augmentation&) const = default;
};

/// The images of a batch, changed in place; a pure function of (seed, step, place in the batch).
template <std::floating_point T>
void augment(const Augmentation& how, std::uint64_t seed, Index step, Tensor<T>& batch, const Engine& engine);

}  // namespace widelimit
