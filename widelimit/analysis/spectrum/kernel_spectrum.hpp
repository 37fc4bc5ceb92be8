#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace widelimit {

struct KernelSpectrumOptions {
  std::optional<std::size_t> memory;  ///< bytes for the decomposition; default: the available memory
  Progress* progress = nullptr;
};

/// K = Σ λ_i v_i v_iᵀ of a Gram matrix, λ₁ ≥ λ₂ ≥ … ≥ 0, decomposed once for any number of labels.
///                                                                                        [docs/theory/spectrum.md]
class KernelSpectrum {
 public:
  /// The engine of K must outlive it. A matrix that is not held is read first. Error{input} for a matrix that is empty,
  /// not square, not symmetric or not finite; Error{resource} where memory does not hold 3n² doubles; Error{numerical}
  /// where an eigenvalue is below 0 by more than rounding, since training then has no rate in its direction. O(n³).
  explicit KernelSpectrum(const GramMatrix& k, const KernelSpectrumOptions& options = {});

  [[nodiscard]] Index samples() const { return std::ssize(values_); }
  /// Largest first; those that only rounding leaves below 0 are 0.
  [[nodiscard]] const std::vector<double>& eigenvalues() const { return values_; }
  /// Eigenvalues up to here may be rounding: 8(ε‖K‖₁ + n·2⁻⁵²·λ₁), the first of the entries of K, whose relative
  /// precision is ε, the second of the decomposition in float64.
  [[nodiscard]] double noise() const { return noise_; }
  /// Eigenvalues above `noise`; the others span what counts as the null space of K.
  [[nodiscard]] Index rank() const { return rank_; }
  /// Row i is v_i.  O(n²).
  [[nodiscard]] Matrix<double> eigenvectors() const;
  /// v_i alone.
  [[nodiscard]] std::vector<double> eigenvector(Index i) const;
  /// ⟨v_i, y_c⟩ for the columns y_c of `y`: row i belongs to λ_i. Error{input} where rows do not fit or a number is not
  /// finite.  O(n²·columns).
  [[nodiscard]] Matrix<double> project(MatrixView<const double> y) const;

  /// K⁻¹ with eigenvalues up to `noise` taken as that, symmetric. Error{numerical} for the zero matrix.  O(n³).
  [[nodiscard]] Matrix<double> inverse() const;

  /// λ₁/λ_n; nothing where λ_n may be rounding.
  [[nodiscard]] std::optional<double> condition() const;
  /// 2/λ₁: gradient descent on ½‖u − y‖² diverges beyond it. Nothing for the zero matrix.
  [[nodiscard]] std::optional<double> stable_rate() const;
  /// Σ λ_i/(λ_i + r): degrees of freedom of ridge regression that adds r > 0 to the diagonal of K (in EQ's convention
  /// r = λ/2). Error{usage} unless r is positive and finite.
  [[nodiscard]] double effective_dimension(double ridge) const;

 private:
  const Algebra* algebra_;
  EngineMatrix vectors_;  ///< row i belongs to the i-th eigenvalue from below
  std::vector<double> values_;
  double noise_ = 0;
  Index rank_ = 0;
};

}  // namespace widelimit
