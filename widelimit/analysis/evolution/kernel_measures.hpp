#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Returns the kernel distance S = 1 − ⟨K, L⟩/(‖K‖‖L‖) in the Frobenius norm, in [0, 2]; 0 for kernels that differ by a
/// positive factor. For several outputs, sums run over all their kernels. Throws Error{usage} if sizes differ and
/// Error{numerical} if a kernel is zero or not finite. O(n²) each. [docs/theory/evolution.md]
[[nodiscard]] double kernel_distance(std::span<const Matrix<double>> k, std::span<const Matrix<double>> l);

/// Returns ‖K‖_F over the kernels of all outputs.
[[nodiscard]] double kernel_norm(std::span<const Matrix<double>> k);

/// Returns the mean kernel: the trace over outputs divided by their number.
[[nodiscard]] Matrix<double> mean_kernel(std::span<const Matrix<double>> k);

/// Means of a kernel over within-class pairs including self-pairs, over between-class pairs, and over the diagonal
/// (NT-L).
struct ClassMeans {
  double same = 0;       ///< Θ̄_c
  double different = 0;  ///< Θ̄_n
  double diagonal = 0;   ///< Θ̄_d

  [[nodiscard]] double same_ratio() const { return same / diagonal; }
  [[nodiscard]] double different_ratio() const { return different / diagonal; }
};

/// Computes the class means. Throws Error{input} for fewer than two classes or mismatched sizes; Error{numerical}
/// unless the diagonal has a positive mean. O(n²).
[[nodiscard]] ClassMeans class_means(MatrixView<const double> k, std::span<const Index> labels);

}  // namespace widelimit
