#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>

namespace widelimit {

/// Support vector regression: minimise λ/2‖β‖² + Σ wᵢ max(0, |yᵢ − g(xᵢ)| − ε). Its dual: minimise ½αᵀKα − yᵀα + ε‖α‖₁
/// subject to |αᵢ| ≤ wᵢ/λ, and Σαᵢ = 0 with a bias. [docs/theory/machines.md]
struct SvrOptions {
  double lambda = 1;                ///< C = 1/λ in scikit-learn's SVR
  double epsilon = 0.1;             ///< errors up to ε have no loss
  bool bias = false;                ///< not regularised
  std::span<const double> weights;  ///< empty for 1
  double tolerance = 1e-6;          ///< relative duality gap
  Index max_iterations = 0;         ///< 0 for the larger of 10⁷ and 100 per sample
  bool check_definite = true;       ///< as in SvmOptions
  Progress* progress = nullptr;

  /// Throws Error{input} if λ, ε, the tolerance or the limit is out of range.
  void validate() const;
};

/// Fits each column of the targets as a separate problem. K is symmetric with one row per row of the targets. The
/// Summary has the sum of the objectives over outputs and the largest gap.
[[nodiscard]] Fit fit_svr(const GramMatrix& k, const MatrixView<const double>& targets, const SvrOptions& options = {});

}  // namespace widelimit
