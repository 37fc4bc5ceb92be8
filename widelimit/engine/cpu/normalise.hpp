#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/cpu/features.hpp"

namespace widelimit::cpu {

/// Cuts each sample into runs of `length` values (whole vectors, or the channels of one position), writes each run
/// divided by its norm to a row of `unit` (zero runs stay zero), and returns the variances ‖run‖²/length. Norms are
/// computed after scaling by a power of two, so values of 1e±150 neither overflow nor underflow.
template <typename T>
[[nodiscard]] Variances normalise_rows(const SampleView& x, Index length, MatrixView<T> unit, int threads);
/// As above for whole sparse rows, in place.
[[nodiscard]] Variances normalise_rows(SparseMatrix& rows, int threads);

}  // namespace widelimit::cpu
