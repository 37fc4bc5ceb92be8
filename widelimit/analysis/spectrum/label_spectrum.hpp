#pragma once

#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// How fast a wide network learns labels y from outputs 0, or from u₀ where y − u₀ is given: gradient flow and descent
/// on ½‖u − y‖² move each eigendirection of K alone,
///
///     ⟨v_i, u(t) − y⟩ = e^{−λ_i t} ⟨v_i, u₀ − y⟩,   ⟨v_i, u_k − y⟩ = (1 − ηλ_i)ᵏ ⟨v_i, u₀ − y⟩.
///
/// A squared loss without the ½ takes half the time, or half the rate η. Several outputs are columns, and their
/// energies add. Directions that count as the null space of K are never learnt.              [docs/theory/spectrum.md]
class LabelSpectrum {
 public:
  /// `y`: samples × outputs. Error{input} as KernelSpectrum::project, and where all labels are 0.
  LabelSpectrum(const KernelSpectrum& spectrum, MatrixView<const double> y);

  [[nodiscard]] const std::vector<double>& eigenvalues() const { return eigenvalues_; }
  /// ⟨v_i, y_c⟩: samples × outputs.
  [[nodiscard]] const Matrix<double>& projections() const { return projections_; }
  /// Σ_c ⟨v_i, y_c⟩², of each direction.
  [[nodiscard]] const std::vector<double>& energy() const { return energy_; }
  /// ‖y‖², the sum of all energies.
  [[nodiscard]] double total() const { return total_; }
  /// Share of ‖y‖² in the first i + 1 directions.
  [[nodiscard]] std::vector<double> cumulative_energy() const;
  /// Share of ‖y‖² in the null space of K: the loss never falls below it.
  [[nodiscard]] double floor() const { return floor_; }
  /// Σ energy_i/λ_i = tr(yᵀK⁻¹y); nothing where the floor is above 10⁻¹², and the norm infinite.
  [[nodiscard]] std::optional<double> norm() const;
  /// √(2 norm/n): NT-L's bound on the error rate of kernel regression where K(x,x) = ½ and y = ±1.
  [[nodiscard]] std::optional<double> complexity() const;

  /// ‖u(t) − y‖² of the flow; t may be infinite. Error{usage} for a negative time.  O(n).
  [[nodiscard]] double loss(double time) const;
  /// ‖u_k − y‖² after k steps of gradient descent. Error{usage} for a rate that is not positive or beyond 2/λ₁.
  [[nodiscard]] double loss_after(Index steps, double rate) const;
  /// Whether the loss falls to ε‖y‖² at all.
  [[nodiscard]] bool reaches(double epsilon) const { return epsilon >= 1 || epsilon > floor_; }
  /// Least t with ‖u(t) − y‖² ≤ ε‖y‖², to the last digits. Error{usage} unless ε is positive; Error{numerical} with the
  /// floor where it is not reached.  O(n) a hundred times.
  [[nodiscard]] double time_to(double epsilon) const;
  /// The same in steps; Error{numerical} where they are more than 2⁵³.
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
