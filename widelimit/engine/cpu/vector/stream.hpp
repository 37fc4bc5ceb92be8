#pragma once

#include "widelimit/base/matrix.hpp"

/// Results that are not read soon, written with non-temporal stores: an ordinary store first fetches the line it is
/// about to overwrite, so a Gram matrix would cross the memory bus twice.
namespace widelimit::cpu {

/// to = from; same size, no overlap.
void stream(MatrixView<const float> from, MatrixView<float> to);
void stream(MatrixView<const double> from, MatrixView<double> to);

/// to = fromᵀ; `to` is from.cols × from.rows and does not overlap.
void stream_transposed(MatrixView<const float> from, MatrixView<float> to);
void stream_transposed(MatrixView<const double> from, MatrixView<double> to);

}  // namespace widelimit::cpu
