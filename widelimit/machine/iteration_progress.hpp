#pragma once

#include "widelimit/base/parallel.hpp"

namespace widelimit {

/// Reports completed iterations. Reports from inner work only poll for interruption and repeat the current iteration.
class IterationProgress final : public Progress {
 public:
  IterationProgress(Progress* whole, Index total) : whole_(whole), total_(total), ticker_(whole, total, unit) {}

  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t, std::int64_t, std::string_view) override { return whole_->update(done_, total_, unit); }
  /// Throws Error{interrupted} on a request to stop.
  void at(Index iteration) {
    done_ = iteration;
    ticker_.at(iteration);
  }

 private:
  static constexpr std::string_view unit = "iterations";
  Progress* whole_;
  Index total_;
  Index done_ = 0;
  ProgressTicker ticker_;
};

}  // namespace widelimit
