#pragma once

#include "widelimit/base/parallel.hpp"

#include <algorithm>
#include <atomic>

namespace widelimit {

/// Pairs of samples that are done: counted by any thread, reported by the calling one.
class PairProgress {
 public:
  PairProgress(Progress* progress, Index total) : ticker_(progress, total, "pairs"), total_(total) {}
  void add(Index pairs) { done_ += pairs; }
  void tell() { ticker_.at(std::min<Index>(done_, total_)); }
  [[nodiscard]] Index done() const { return done_; }

 private:
  ProgressTicker ticker_;
  Index total_;
  std::atomic<Index> done_ = 0;
};

}  // namespace widelimit
