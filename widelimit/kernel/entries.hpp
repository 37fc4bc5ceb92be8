#pragma once

#include "widelimit/base/samples.hpp"

#include <optional>

namespace widelimit {

/// The first things to look at in a matrix.
struct Entries {
  Index rows = 0;
  Index cols = 0;
  double smallest = 0;
  double largest = 0;
  double mean = 0;
  std::optional<double> trace;  ///< where it is square
};

/// O(rows·cols). Error{numerical} names the first entry that is not finite.
[[nodiscard]] Entries summarise(const AnyMatrix& matrix);

}  // namespace widelimit
