#pragma once

#include <cstdint>
#include <string_view>

namespace widelimit {

/// How long work tells its caller where it is, and hears whether to go on. Called from the thread that called the
/// library, a few times a second at most.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `done` of `total` units (pairs, rows, bytes: `unit` says which). Return false to stop: the work then throws
  /// Error{interrupted}.
  virtual bool update(std::int64_t done, std::int64_t total, std::string_view unit) = 0;
};

}  // namespace widelimit
