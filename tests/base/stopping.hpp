#pragma once

#include "widelimit/base/progress.hpp"

#include <limits>

namespace widelimit {

/// Counts the calls and requests a stop at call number `last`, counted from 1.
struct StopAt : Progress {
  explicit StopAt(int last = std::numeric_limits<int>::max()) : last(last) {}
  bool update(std::int64_t, std::int64_t, std::string_view) override { return ++updates < last; }

  int last;
  int updates = 0;
};

}  // namespace widelimit
