#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

namespace widelimit {

/// Position of a block within all points.
struct PointBlock {
  Index first = 0;
  Index total = 0;
};

/// Reports the progress of a block as part of the whole.
class BlockProgress final : public Progress {
 public:
  BlockProgress(Progress* whole, const PointBlock& block) : whole_(whole), block_(block) {}
  /// Null without a listener.
  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t /*total*/, std::string_view unit) override {
    return whole_->update(block_.first + done, block_.total, unit);
  }

 private:
  Progress* whole_;
  PointBlock block_;
};

}  // namespace widelimit
