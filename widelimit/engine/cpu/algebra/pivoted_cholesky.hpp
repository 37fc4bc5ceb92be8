#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"

#include <vector>

namespace widelimit::cpu {

/// Factors PᵀAP = LLᵀ over the lower triangle of a contiguous symmetric semi-definite matrix with diagonal pivoting;
/// stops once the largest remaining diagonal entry is at most `least`, and returns the rank. Row i of the result
/// belongs to row order[i] of A; entries beyond the rank hold the Schur complement. Works in blocks of columns, after
/// each of which `progress` can stop it.  O(n·rank²).
[[nodiscard]] Index pivoted_cholesky(MatrixView<double> a, double least, std::vector<Index>& order, int threads,
                                     Progress* progress);

}  // namespace widelimit::cpu
