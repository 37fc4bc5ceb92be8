#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>

namespace widelimit {

struct RidgeOptions {
  double lambda = 1;  ///< finite, ≥ 0; 0 is kernel regression
  bool bias = false;  ///< fit an unregularised bias b
  std::span<const double> weights = {};
  FactorPrecision factor = FactorPrecision::automatic;
  /// Also solve if S K S + λ/2·I is nonsingular but not positive definite.
  bool indefinite = false;
  Progress* progress = nullptr;

  void validate() const;
};

/// Kernel ridge regression of all outputs, with one factorisation:
///
///     min λ/2‖β‖² + Σ wᵢ (yᵢ − g(xᵢ))²   ⇔   (K + λ/2·W⁻¹) α = y − b,   Σ αᵢ = 0 if there is a bias.
///
/// The factor ½ is the convention of EQ: λ/2 is the usual alpha or noise variance. With S = √W, the matrix
/// S K S + λ/2·I is factorised, which allows weights of 0; they give αᵢ = 0. With r = y − Kα − b, the summary has
///
///     primal = λ/2 αᵀKα + Σ wᵢ rᵢ²,   primal − dual = Σ wᵢ (rᵢ − λαᵢ/(2wᵢ))²,
///
/// (dual at the multipliers λα, only for λ > 0), and in `gradient` the residual of the linear system relative to y, all
/// with rounding included (ridge_proof.hpp). If the matrix is not positive definite, all coefficients are 0 and the
/// message suggests a λ. Only S K S + λ/2·I is tested: the gap is valid for the objective if K is positive
/// semi-definite. With `indefinite`, a nonsingular indefinite matrix is solved by LDLᵀ in float64: the coefficients
/// then need not minimise the objective, primal and dual are omitted, and the message gives the number of positive and
/// negative eigenvalues, and a condition number above 10⁶ (docs/theory/label_aware.md). [docs/theory/machines.md]
/// O(n³/3 + n² outputs), and n² numbers.
[[nodiscard]] Fit fit_ridge(const GramMatrix& k, MatrixView<const double> targets, const RidgeOptions& options = {});

/// Kernel regression, the minimum-norm interpolant: ridge at λ = 0, where only zero and nonzero weights are
/// distinguished.
[[nodiscard]] Fit fit_regression(const GramMatrix& k, MatrixView<const double> targets, RidgeOptions options = {});

}  // namespace widelimit
