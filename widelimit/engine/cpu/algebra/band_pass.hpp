#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit::cpu {

/// D and G are padded with zeros to a multiple of this number of columns: a multiple of three vectors on any processor.
constexpr Index band_pass_columns = 24;

/// z = q·D + before·G and sums_i += ‖z_i‖² for the rows of a strip: one block of the substitution z = L⁻¹Qᵀ for a
/// banded L. D is upper triangular and read from its diagonal on; G is empty for the first block. z, D and G have the
/// same number of columns. Sequential.
void band_pass(MatrixView<const double> q, MatrixView<const double> d, MatrixView<const double> before,
               MatrixView<const double> g, MatrixView<double> z, double* sums);

}  // namespace widelimit::cpu
