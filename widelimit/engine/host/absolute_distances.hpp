#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit::host {

/// out(i, j) = ‖a_i − b_j‖₁ for rows of two matrices with as many columns. Sequential.  O(rows·rows·columns).
void absolute_distances(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> out);

}  // namespace widelimit::host
