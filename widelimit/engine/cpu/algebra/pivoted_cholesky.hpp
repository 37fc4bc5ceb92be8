#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"

#include <vector>

namespace widelimit::cpu {

/// PᵀAP = LLᵀ over the lower triangle of a symmetric semi-definite matrix without gaps, the largest diagonal entry that
/// is left always the next pivot; ends where that is not above `least`, and returns the rank found. Row i of the result
/// is row order[i] of A; entries beyond the rank are what is left. In blocks of columns, after each of which `progress`
/// may stop it.  O(n·rank²).
[[nodiscard]] Index pivoted_cholesky(MatrixView<double> a, double least, std::vector<Index>& order, int threads,
                                     Progress* progress);

}  // namespace widelimit::cpu
