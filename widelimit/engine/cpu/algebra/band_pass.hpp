#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit::cpu {

/// Columns of D and G of a band pass, those beyond the last block filled with zeros: a multiple of three vectors of any
/// processor.
constexpr Index band_pass_columns = 24;

/// z = q·D + before·G and sums_i += ‖z_i‖² for the rows of a strip: one block of the substitution z = L⁻¹Qᵀ for a band
/// L. D is upper triangular, and read from its diagonal on; G is empty for the first block. z, D and G have the same
/// columns. On this thread.
void band_pass(MatrixView<const double> q, MatrixView<const double> d, MatrixView<const double> before,
               MatrixView<const double> g, MatrixView<double> z, double* sums);

}  // namespace widelimit::cpu
