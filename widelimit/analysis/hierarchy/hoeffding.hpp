#pragma once

#include "widelimit/base/matrix.hpp"

#include <array>
#include <span>

namespace widelimit {

/// Returns the Hoeffding decomposition of yᵀMy for independent labels y_i ∈ {−1, 1} with means μ_i (LA Lemma 2.2): the
/// parts that depend on no label, on single labels, and on pairs of labels,
///
///     order 0: Σ_{i≠j} M_ijμ_iμ_j + tr M,   order 1: Σ_i (y_i − μ_i) Σ_{j≠i} (M_ij + M_ji)μ_j,
///     order 2: Σ_{i≠j} M_ij(y_i − μ_i)(y_j − μ_j).
///
/// They sum to yᵀMy and are uncorrelated. Throws Error{input} unless M is square, labels are ±1 and −1 ≤ μ ≤ 1. O(n²).
[[nodiscard]] std::array<double, 3> hoeffding_orders(MatrixView<const double> m, std::span<const double> y,
                                                     std::span<const double> means);

}  // namespace widelimit
