#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace widelimit {

struct KernelSpectrumOptions {
  std::optional<std::size_t> memory;  ///< memory limit in bytes for the decomposition; default: the available memory
  Progress* progress = nullptr;
};

/// Eigendecomposition K = Σ λ_i v_i v_iᵀ of a Gram matrix, λ₁ ≥ λ₂ ≥ … ≥ 0, reusable for any number of labels.
/// [docs/theory/spectrum.md]
class KernelSpectrum {
 public:
  /// Decomposes K, whose engine must outlive the object; a matrix that is not in memory is read first. Throws
  /// Error{input} if K is empty, not square, not symmetric or not finite; Error{resource} if 3n² doubles do not fit
  /// into memory; Error{numerical} if an eigenvalue is negative beyond rounding, since training then diverges in its
  /// direction. O(n³).
  explicit KernelSpectrum(const GramMatrix& k, const KernelSpectrumOptions& options = {});

  [[nodiscard]] Index samples() const { return std::ssize(values_); }
  /// Eigenvalues in descending order; negative ones within rounding are 0.
  [[nodiscard]] const std::vector<double>& eigenvalues() const { return values_; }
  /// Bound on the rounding error of eigenvalues: 8(ε‖K‖₁ + n·2⁻⁵²·λ₁), the first term from the entries of K with
  /// relative precision ε, the second from the decomposition in float64.
  [[nodiscard]] double noise() const { return noise_; }
  /// Number of eigenvalues above `noise`; the other eigenvectors span the numerical null space of K.
  [[nodiscard]] Index rank() const { return rank_; }
  /// Returns the eigenvectors; row i is v_i. O(n²).
  [[nodiscard]] Matrix<double> eigenvectors() const;
  /// Returns v_i.
  [[nodiscard]] std::vector<double> eigenvector(Index i) const;
  /// Returns ⟨v_i, y_c⟩ for the columns y_c of `y`: row i belongs to λ_i. Throws Error{input} if the number of rows
  /// does not match or a value is not finite. O(n²·columns).
  [[nodiscard]] Matrix<double> project(MatrixView<const double> y) const;

  /// Returns the symmetric inverse K⁻¹ with eigenvalues below `noise` replaced by `noise`. Throws Error{numerical} for
  /// the zero matrix. O(n³).
  [[nodiscard]] Matrix<double> inverse() const;

  /// Returns λ₁/λ_n; std::nullopt if λ_n is within rounding.
  [[nodiscard]] std::optional<double> condition() const;
  /// Returns 2/λ₁, above which gradient descent on ½‖u − y‖² diverges; std::nullopt for the zero matrix.
  [[nodiscard]] std::optional<double> stable_rate() const;
  /// Returns Σ λ_i/(λ_i + r), the degrees of freedom of ridge regression with r > 0 added to the diagonal of K (in EQ's
  /// convention r = λ/2). Throws Error{usage} unless r is positive and finite.
  [[nodiscard]] double effective_dimension(double ridge) const;

 private:
  const Algebra* algebra_;
  EngineMatrix vectors_;  ///< row i belongs to the i-th smallest eigenvalue
  std::vector<double> values_;
  double noise_ = 0;
  Index rank_ = 0;
};

}  // namespace widelimit
