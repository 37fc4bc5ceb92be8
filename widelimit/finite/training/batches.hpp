#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// Which samples each step of training sees: a pure function of (seed, step), so that a network and a kernel machine
/// trained with one seed see the same batches. Every epoch is a permutation of all samples cut into batches; what is
/// left over at the end of an epoch is not used in it, so that all batches are equally large.
class Batches {
 public:
  /// `size` 0 or of all samples: the full batch, in order. Error{usage} where there are fewer samples than `size`.
  Batches(Index samples, Index size, std::uint64_t seed);

  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ == samples_; }
  /// Samples of `step`; valid until the next call.  O(samples) where an epoch begins, else O(size).
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
