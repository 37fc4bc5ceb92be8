#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// Support vector machines: minimise λ/2‖β‖² + Σ wᵢ l(g(xᵢ), yᵢ), y = ±1, with C = 1/λ.    [docs/theory/machines.md]
enum class SvmLoss : std::uint8_t {
  hinge,          ///< 1-norm, max(0, 1 − yz): 0 ≤ αᵢyᵢ ≤ wᵢC
  squared_hinge,  ///< 2-norm, max(0, 1 − yz)²: αᵢyᵢ ≥ 0 and K + diag λ/(2wᵢ). the same C as LIBLINEAR's
  hard,           ///< λ → 0: minimise ‖β‖²/2 subject to yᵢg(xᵢ) ≥ 1; samples of weight 0 are ignored
};

struct SvmOptions {
  double lambda = 1;                ///< not used by a hard margin
  bool bias = false;                ///< g = ⟨β,Φ⟩ + b, b not regularised; scikit-learn's SVC always has it
  std::span<const double> weights;  ///< empty for 1
  double tolerance = 1e-6;          ///< relative duality gap
  Index max_iterations = 0;         ///< 0 for the larger of 10⁷ and 100 per sample
  /// Test first whether K is positive semi-definite (semidefinite.hpp), in O(n³/3) once for each matrix. False where K
  /// is known to be, as the kernel of a network is.
  bool check_definite = true;
  Progress* progress = nullptr;

  /// Error{input} where λ, the tolerance or the limit is out of range.
  void validate() const;
};

/// K is symmetric, a row for each of the labels ±1, both of which occur. Primal and dual objective in the Summary are
/// those of EQ (7), that is, λ times those of a solver in terms of C; the gap includes all rounding. A K that is not
/// positive semi-definite ends as not_positive_definite, with coefficients 0 and a message that suggests a ridge.
[[nodiscard]] Fit fit_svm(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options = {});
[[nodiscard]] Fit fit_svm2(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options = {});
/// Data that no hyperplane separates end with Ending::not_separable; the coefficients are then those of the last step.
[[nodiscard]] Fit fit_hard_svm(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options = {});

/// One machine for each λ, in that order; solved from the largest λ down, each warm-started from the scaled solution
/// before it. options.lambda is not used.
[[nodiscard]] std::vector<Fit> svm_path(const GramMatrix& k, std::span<const double> labels,
                                        std::span<const double> lambdas, const SvmOptions& options = {},
                                        SvmLoss loss = SvmLoss::hinge);

}  // namespace widelimit
