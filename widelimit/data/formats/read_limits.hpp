#pragma once

#include "widelimit/base/progress.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace widelimit {

/// Memory limit and progress of a reader.
struct ReadLimits {
  std::optional<std::size_t> memory;  ///< byte limit for reading; absent: the available memory
  Progress* progress = nullptr;       ///< receives progress and can stop reading; may be null

  /// Throws Error{resource} if reading `source` would exceed the limit. Must be called before memory is allocated on
  /// the basis of sizes declared in a file.
  void require(double bytes, const std::string& source) const;
};

}  // namespace widelimit
