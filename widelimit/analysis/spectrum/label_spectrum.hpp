#pragma once

#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// Learning curves of a wide network for labels y from outputs 0, or from u₀ if y − u₀ is given: gradient flow and
/// descent on ½‖u − y‖² decouple in the eigenbasis of K,
///
///     ⟨v_i, u(t) − y⟩ = e^{−λ_i t} ⟨v_i, u₀ − y⟩,   ⟨v_i, u_k − y⟩ = (1 − ηλ_i)ᵏ ⟨v_i, u₀ − y⟩.
///
/// A squared loss without the factor ½ takes half the time, or half the rate η. Several outputs are columns, and their
/// energies add up. The numerical null space of K is never learned. [docs/theory/spectrum.md]
class LabelSpectrum {
 public:
  /// `y` is samples × outputs. Throws Error{input} as KernelSpectrum::project, and if all labels are 0.
  LabelSpectrum(const KernelSpectrum& spectrum, MatrixView<const double> y);

  [[nodiscard]] const std::vector<double>& eigenvalues() const { return eigenvalues_; }
  /// ⟨v_i, y_c⟩: samples × outputs.
  [[nodiscard]] const Matrix<double>& projections() const { return projections_; }
  /// Σ_c ⟨v_i, y_c⟩² per direction.
  [[nodiscard]] const std::vector<double>& energy() const { return energy_; }
  /// ‖y‖², the sum of all energies.
  [[nodiscard]] double total() const { return total_; }
  /// Returns the fraction of ‖y‖² in the first i + 1 directions.
  [[nodiscard]] std::vector<double> cumulative_energy() const;
  /// Fraction of ‖y‖² in the null space of K, a lower bound on the relative loss.
  [[nodiscard]] double floor() const { return floor_; }
  /// Returns Σ energy_i/λ_i = tr(yᵀK⁻¹y); std::nullopt if the floor is above 10⁻¹², i.e. the norm is infinite.
  [[nodiscard]] std::optional<double> norm() const;
  /// Returns √(2 norm/n), NT-L's bound on the error rate of kernel regression for K(x,x) = ½ and y = ±1.
  [[nodiscard]] std::optional<double> complexity() const;

  /// Returns ‖u(t) − y‖² of the flow; t can be infinite. Throws Error{usage} for a negative time. O(n).
  [[nodiscard]] double loss(double time) const;
  /// Returns ‖u_k − y‖² after k steps of gradient descent. Throws Error{usage} for a rate that is not positive or above
  /// 2/λ₁.
  [[nodiscard]] double loss_after(Index steps, double rate) const;
  /// Returns whether the loss ever reaches ε‖y‖².
  [[nodiscard]] bool reaches(double epsilon) const { return epsilon >= 1 || epsilon > floor_; }
  /// Returns the smallest t with ‖u(t) − y‖² ≤ ε‖y‖², to full precision by bisection. Throws Error{usage} unless ε is
  /// positive; Error{numerical} with the floor if it is never reached. About a hundred evaluations of O(n).
  [[nodiscard]] double time_to(double epsilon) const;
  /// Same in steps; throws Error{numerical} if more than 2⁵³ are needed.
  [[nodiscard]] Index steps_to(double epsilon, double rate) const;

 private:
  void require_reachable(double epsilon) const;

  std::vector<double> eigenvalues_;  ///< 0 in the null space
  Matrix<double> projections_;
  std::vector<double> energy_;
  double total_ = 0;
  double floor_ = 0;
  Index rank_ = 0;
};

}  // namespace widelimit
