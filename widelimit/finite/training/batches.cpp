#include "widelimit/finite/training/batches.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <numeric>

namespace widelimit {

namespace {

/// Stream of batches, disjoint from those of weights and splits.
constexpr std::uint64_t batch_stream = std::uint64_t{1} << 48;

}  // namespace

Batches::Batches(Index samples, Index size, std::uint64_t seed)
    : samples_(samples), size_(size == 0 ? samples : size), seed_(seed) {
  if (size < 0 || size > samples) {
    fail(Code::usage, "a batch of {} of {} samples; choose 1 to {}, or 0 for all", size, samples, samples);
  }
  batch_.resize(static_cast<std::size_t>(size_));
  if (full()) std::iota(batch_.begin(), batch_.end(), Index{0});
}

const std::vector<Index>& Batches::of(Index step) {
  if (full()) return batch_;
  const Index in_epoch = samples_ / size_;
  if (const Index epoch = step / in_epoch; epoch != epoch_) {
    order_ = permutation(samples_, seed_, batch_stream + static_cast<std::uint64_t>(epoch));
    epoch_ = epoch;
  }
  const auto first = order_.begin() + step % in_epoch * size_;
  batch_.assign(first, first + size_);
  return batch_;
}

}  // namespace widelimit
