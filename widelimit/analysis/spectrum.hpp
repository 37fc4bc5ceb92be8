#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Eigenvalues of a symmetric matrix, largest first. Error{usage} unless square, Error{input} as its check says.
/// O(n³), and n² doubles.
[[nodiscard]] std::vector<double> eigenvalues(const GramMatrix& k);

/// Eigenvalues λ₁ ≥ λ₂ ≥ … of a Gram matrix and quantities derived from them.
struct Spectrum {
  std::vector<double> eigenvalues;  ///< largest first
  Index sampled = 0;                ///< rows used
  Index of = 0;                     ///< rows of the matrix
  /// λ₁/λ_n; empty where λ_n cannot be distinguished from 0 in the precision of the matrix.
  std::optional<double> condition;
  double effective_dimension = 0;  ///< (Σλ)²/Σλ²: n for the identity, 1 for rank one, 0 for the zero matrix
  std::string note;                ///< states where a subset was used
};

/// The whole matrix up to `most` rows; beyond that `subset` rows drawn by `seed`, since n³ would take minutes: a
/// principal submatrix, whose eigenvalues are those of the kernel on fewer samples.
struct SpectrumOptions {
  Index most = 4000;
  Index subset = 2000;
  std::uint64_t seed = 0;
};
[[nodiscard]] Spectrum spectrum(const GramMatrix& k, const SpectrumOptions& options = {});

/// Kernel–target alignment ⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖), Frobenius; yᵀKy/(‖K‖‖yyᵀ‖ ) for one column (Cristianini et al.
/// 2001). 0 where either vanishes.  O(n²·columns).
[[nodiscard]] double alignment(const AnyMatrix& gram, const Matrix<double>& targets);

/// Fraction of samples whose nearest neighbour in the feature space, ‖φ_i − φ_j‖² = K_ii + K_jj − 2K_ij, has the
/// same label; 0 for fewer than two samples.  O(n²).
[[nodiscard]] double neighbour_accuracy(const AnyMatrix& gram, std::span<const Index> labels);

}  // namespace widelimit
