#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Returns the eigenvalues of a symmetric matrix, largest first. Throws Error{usage} if the matrix is not square and
/// Error{input} if it is not symmetric. O(n³) time, n² doubles.
[[nodiscard]] std::vector<double> eigenvalues(const GramMatrix& k);

/// Eigenvalues λ₁ ≥ λ₂ ≥ … of a Gram matrix and quantities derived from them.
struct Spectrum {
  std::vector<double> eigenvalues;  ///< largest first
  Index sampled = 0;                ///< rows used
  Index of = 0;                     ///< rows of the matrix
  /// λ₁/λ_n; empty if λ_n is below the rounding error of the matrix
  std::optional<double> condition;
  double effective_dimension = 0;  ///< (Σλ)²/Σλ²: n for the identity, 1 for rank one, 0 for the zero matrix
  std::string note;                ///< states if a subset was used; else empty
};

/// Uses the whole matrix up to `most` rows. Larger matrices are replaced by the principal submatrix of `subset` rows
/// drawn with `seed`, which limits the O(n³) cost; its eigenvalues are those of the kernel on fewer samples.
struct SpectrumOptions {
  Index most = 4000;
  Index subset = 2000;
  std::uint64_t seed = 0;
};
[[nodiscard]] Spectrum spectrum(const GramMatrix& k, const SpectrumOptions& options = {});

/// Returns the kernel–target alignment ⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖) in the Frobenius norm, i.e. yᵀKy/(‖K‖‖yyᵀ‖) for one column
/// (Cristianini et al. 2001). Returns 0 if K or Y is 0. O(n²·columns).
[[nodiscard]] double alignment(const AnyMatrix& gram, const Matrix<double>& targets);

/// Returns the leave-one-out accuracy of the 1-nearest-neighbour classifier in feature space, ‖φ_i − φ_j‖² = K_ii +
/// K_jj − 2K_ij; 0 for fewer than two samples. O(n²).
[[nodiscard]] double neighbour_accuracy(const AnyMatrix& gram, std::span<const Index> labels);

}  // namespace widelimit
