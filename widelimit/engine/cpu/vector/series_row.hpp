#pragma once

#include <cstdint>

namespace widelimit::cpu {

/// Numbers of each place that a dual by series keeps before its coefficients: r, 1/r after it, numbers of terms, what
/// the terms leave, in units of the root of what may be left, and how fast the function moves with r.
/// [hermite_series.hpp]
enum SeriesRow : std::int8_t {
  deviation_row,
  inverse_row,
  enough_row,
  plenty_row,
  rest_row,
  slope_rest_row,
  long_rest_row,
  long_slope_rest_row,
  stretch_row,
  series_rows
};

}  // namespace widelimit::cpu
