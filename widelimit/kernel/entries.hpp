#pragma once

#include "widelimit/base/samples.hpp"

#include <optional>

namespace widelimit {

/// Summary statistics of the entries of a matrix.
struct Entries {
  Index rows = 0;
  Index cols = 0;
  double smallest = 0;
  double largest = 0;
  double mean = 0;
  std::optional<double> trace;  ///< only if the matrix is square
};

/// Throws Error{numerical} naming the first entry that is not finite.  O(rows·cols).
[[nodiscard]] Entries summarise(const AnyMatrix& matrix);

}  // namespace widelimit
