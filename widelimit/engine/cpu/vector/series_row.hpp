#pragma once

#include <cstdint>

namespace widelimit::cpu {

/// Features that a dual by series stores before its coefficients: r, 1/r after it, numbers of terms, remainders in
/// units of the square root of the tolerance, and the sensitivity of the function to r. [hermite_series.hpp]
enum SeriesRow : std::int8_t {
  deviation_row,
  inverse_row,
  sufficient_terms_row,
  maximal_terms_row,
  rest_row,
  slope_rest_row,
  long_rest_row,
  long_slope_rest_row,
  stretch_row,
  series_rows
};

}  // namespace widelimit::cpu
