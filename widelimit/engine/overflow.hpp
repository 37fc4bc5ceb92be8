#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit {

/// Throws Error{numerical}: output `slot` of the recipe, pair (row, col), left the range of the precision asked for.
[[noreturn]] void report_overflow(Index slot, Index row, Index col, Precision precision);

}  // namespace widelimit
