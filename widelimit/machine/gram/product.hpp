#pragma once

#include "widelimit/base/samples.hpp"

namespace widelimit {

/// out = K·V in float64, K in either precision: n × n by n × m, all of V in memory, rows without gaps.  O(n²m), and
/// 256 rows of K in float64 for each thread where it is float32. Shared by the AlgebraTeam of this thread.
void multiply(const AnyView& k, MatrixView<const double> v, MatrixView<double> out);

/// Error{input} unless there is a row of finite numbers for each of `samples`, and at least one column.
void check_targets(MatrixView<const double> targets, Index samples);

/// Samples of a Gram matrix.
[[nodiscard]] inline Index samples_of(const AnyView& k) {
  return std::visit([](const auto& view) { return view.rows; }, k);
}

}  // namespace widelimit
