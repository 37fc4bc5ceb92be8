#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"

#include <cstdint>

namespace widelimit {

/// Random label-preserving transformations of training images, drawn anew in every step (He, Zhang, Ren, Sun, CVPR
/// 2016): horizontal flip with probability ½, and translation by up to `crop` pixels along each axis with zero padding
/// (padding by `crop` and a random crop of the original size).
struct Augmentation {
  bool flip = false;
  Index crop = 0;

  [[nodiscard]] bool any() const { return flip || crop > 0; }
  /// Throws Error{usage} if crop < 0.
  void validate() const;
  bool operator==(const Augmentation&) const = default;
};

/// Transforms the images of a batch in place; a pure function of (seed, step, index in the batch).
template <std::floating_point T>
void augment(const Augmentation& how, std::uint64_t seed, Index step, Tensor<T>& batch, const Engine& engine);

}  // namespace widelimit
