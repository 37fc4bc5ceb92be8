#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit {

/// Throws Error{numerical}: output `slot` of the recipe on the pair (row, col) exceeds the range of `precision`.
[[noreturn]] void report_overflow(Index slot, Index row, Index col, Precision precision);

}  // namespace widelimit
