#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Kernel distance S = 1 − ⟨K, L⟩/(‖K‖‖L‖), Frobenius, in [0, 2]; 0 for kernels that differ by a positive factor. Of
/// several outputs the sums run over the kernels of all of them. Error{usage} where sizes differ, Error{numerical}
/// where a kernel vanishes or is not finite.  O(n²) each. [docs/theory/evolution.md]
[[nodiscard]] double kernel_distance(std::span<const Matrix<double>> k, std::span<const Matrix<double>> l);

/// ‖K‖_F over the kernels of all outputs.
[[nodiscard]] double kernel_norm(std::span<const Matrix<double>> k);

/// The mean of several kernels: the trace over outputs, divided by their number.
[[nodiscard]] Matrix<double> mean_kernel(std::span<const Matrix<double>> k);

/// Means of a kernel over pairs of one class, self-pairs included, of two classes, and over the diagonal (NT-L).
struct ClassMeans {
  double same = 0;       ///< Θ̄_c
  double different = 0;  ///< Θ̄_n
  double diagonal = 0;   ///< Θ̄_d

  [[nodiscard]] double same_ratio() const { return same / diagonal; }
  [[nodiscard]] double different_ratio() const { return different / diagonal; }
};

/// Error{input} where there are not two classes, or another number of labels; Error{numerical} unless the diagonal has
/// a positive mean.  O(n²).
[[nodiscard]] ClassMeans class_means(MatrixView<const double> k, std::span<const Index> labels);

}  // namespace widelimit
