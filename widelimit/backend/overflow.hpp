#pragma once

#include "widelimit/base/types.hpp"

#include <concepts>

namespace widelimit {

/// Throws Error{numerical}: output `slot` of the recipe, pair (row, col), left the range of the precision asked for.
[[noreturn]] void report_overflow(Index slot, Index row, Index col, Precision precision);

template <std::floating_point T>
constexpr Precision precision_of = sizeof(T) == sizeof(float) ? Precision::f32 : Precision::f64;

}  // namespace widelimit
