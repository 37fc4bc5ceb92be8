#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit {

/// to = fromᵀ; `to` is from.cols × from.rows and does not overlap.
void transpose(MatrixView<const float> from, MatrixView<float> to);
void transpose(MatrixView<const double> from, MatrixView<double> to);

}  // namespace widelimit
