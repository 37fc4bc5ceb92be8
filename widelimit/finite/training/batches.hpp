#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// The samples of each training step: a pure function of (seed, step), so that a network and a kernel machine trained
/// with the same seed use the same batches. Every epoch is a permutation of all samples cut into batches; an incomplete
/// last batch is dropped, so that all batches have the same size.
class Batches {
 public:
  /// `size` 0 or `samples`: the full batch, in order. Throws Error{usage} if there are fewer samples than `size`.
  Batches(Index samples, Index size, std::uint64_t seed);

  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ == samples_; }
  /// Returns the samples of `step`; valid until the next call.  O(samples) at the start of an epoch, otherwise O(size).
  [[nodiscard]] const std::vector<Index>& of(Index step);

 private:
  Index samples_;
  Index size_;
  std::uint64_t seed_;
  Index epoch_ = -1;
  std::vector<Index> order_;
  std::vector<Index> batch_;
};

}  // namespace widelimit
