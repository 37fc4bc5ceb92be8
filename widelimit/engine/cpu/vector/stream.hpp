#pragma once

#include "widelimit/base/matrix.hpp"

/// Non-temporal stores for results that are not read soon: an ordinary store first fetches the cache line that it
/// overwrites, so a Gram matrix would cross the memory bus twice.
namespace widelimit::cpu {

/// to = from; same size, no overlap.
void stream(MatrixView<const float> from, MatrixView<float> to);
void stream(MatrixView<const double> from, MatrixView<double> to);

/// to = fromᵀ; `to` is from.cols × from.rows and does not overlap.
void stream_transposed(MatrixView<const float> from, MatrixView<float> to);
void stream_transposed(MatrixView<const double> from, MatrixView<double> to);

}  // namespace widelimit::cpu
