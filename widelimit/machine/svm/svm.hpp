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
  squared_hinge,  ///< 2-norm, max(0, 1 − yz)²: αᵢyᵢ ≥ 0 and K + diag λ/(2wᵢ); same C as LIBLINEAR
  hard,           ///< λ → 0: minimise ‖β‖²/2 subject to yᵢg(xᵢ) ≥ 1; samples of weight 0 are ignored
};

struct SvmOptions {
  double lambda = 1;                ///< ignored by a hard margin
  bool bias = false;                ///< g = ⟨β,Φ⟩ + b, b unregularised; always present in scikit-learn's SVC
  std::span<const double> weights;  ///< empty for 1
  double tolerance = 1e-6;          ///< relative duality gap
  Index max_iterations = 0;         ///< 0 for the larger of 10⁷ and 100 per sample
  /// Test first whether K is positive semi-definite (semidefinite.hpp), in O(n³/3) once per matrix. Set to false if K
  /// is known to be so, e.g. the kernel of a network.
  bool check_definite = true;
  Progress* progress = nullptr;

  /// Throws Error{input} if λ, the tolerance or the limit is out of range.
  void validate() const;
};

/// K is symmetric with one row per label ±1; both labels must occur. Primal and dual objective in the Summary are those
/// of EQ (7), i.e. λ times those of a solver in terms of C; the gap includes rounding. A K that is not positive
/// semi-definite ends as not_positive_definite, with zero coefficients and a message that suggests a diagonal shift.
[[nodiscard]] Fit fit_svm(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options = {});
[[nodiscard]] Fit fit_svm2(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options = {});
/// Ends as Ending::not_separable if no hyperplane separates the data; the coefficients are then those of the last step.
[[nodiscard]] Fit fit_hard_svm(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options = {});

/// Fits one machine for each λ, in the given order; solves from the largest λ down, each warm-started from the rescaled
/// previous solution. Ignores options.lambda.
[[nodiscard]] std::vector<Fit> svm_path(const GramMatrix& k, std::span<const double> labels,
                                        std::span<const double> lambdas, const SvmOptions& options = {},
                                        SvmLoss loss = SvmLoss::hinge);

}  // namespace widelimit
