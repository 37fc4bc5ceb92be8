#pragma once

#include "widelimit/base/progress.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace widelimit {

/// What every reader keeps to.
struct ReadLimits {
  std::optional<std::size_t> memory;  ///< bytes that reading may take at once; absent: what the machine has left
  Progress* progress = nullptr;       ///< receives progress and may stop reading; may be null

  /// Error{resource} where reading `source` would take more than that. To be asked before anything is allocated by what
  /// a file says of itself.
  void require(double bytes, const std::string& source) const;
};

}  // namespace widelimit
