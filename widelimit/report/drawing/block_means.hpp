#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit {

/// The matrix at most `edge` × `edge`, each entry the mean of the block it stands for; blocks differ by at most one
/// row or column in size. Error{numerical} names the first entry that is not finite.  O(rows·cols).
[[nodiscard]] Matrix<double> block_means(MatrixView<const double> matrix, Index edge);
[[nodiscard]] Matrix<double> block_means(MatrixView<const float> matrix, Index edge);

}  // namespace widelimit
