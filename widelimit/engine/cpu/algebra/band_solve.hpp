#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/algebra.hpp"
#include "widelimit/engine/cpu/algebra/band_form.hpp"

#include <span>
#include <vector>

namespace widelimit::cpu {

/// One for each shift, of A = Q B Qᵀ. With B + cI = L Lᵀ, row q of Q and z = L⁻¹q,
///
///     (A + cI)⁻¹_ii = ‖z‖²,   ((A + cI)⁻¹R)_i = zᵀ L⁻¹QᵀR,
///
/// so that L⁻¹Qᵀ, block after block and a strip of rows of Q at a time, gives both.
/// O(n² (4 width + 2 columns)) for each shift.
[[nodiscard]] std::vector<ShiftedInverse> shifted_inverses(const BandForm& form,
                                                           MatrixView<const double> right_hand_sides,
                                                           std::span<const double> shifts, int threads,
                                                           Progress* progress);

/// The shifts of a symmetric matrix, of which the upper triangle is read, by its band form.
[[nodiscard]] std::unique_ptr<ShiftedFamily> band_family(Matrix<double> a, int threads, Progress* progress);

}  // namespace widelimit::cpu
