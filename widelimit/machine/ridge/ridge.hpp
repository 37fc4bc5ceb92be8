#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>

namespace widelimit {

struct RidgeOptions {
  double lambda = 1;  ///< finite, ≥ 0; 0 is kernel regression
  bool bias = false;  ///< fit b too; it is not regularised
  std::span<const double> weights = {};
  FactorPrecision factor = FactorPrecision::automatic;
  /// Solve where S K S + λ/2·I is regular, but not positive definite, too.
  bool indefinite = false;
  Progress* progress = nullptr;

  void validate() const;
};

/// Kernel ridge regression of every output, with one factorisation:
///
///     min λ/2‖β‖² + Σ wᵢ (yᵢ − g(xᵢ))²   ⇔   (K + λ/2·W⁻¹) α = y − b,   Σ αᵢ = 0 where there is a bias.
///
/// The ½ is EQ's convention: λ/2 is the usual alpha or noise variance. With S = √W the matrix S K S + λ/2·I is
/// factored, which allows weights of 0; they give αᵢ = 0. The summary has, with r = y − Kα − b,
///
///     primal = λ/2 αᵀKα + Σ wᵢ rᵢ²,   primal − dual = Σ wᵢ (rᵢ − λαᵢ/(2wᵢ))²,
///
/// (dual at the multipliers λα, and only for λ > 0), `gradient` the residual of the linear system relative to y, all
/// with rounding included (ridge_proof.hpp). Where the matrix is not positive definite, all coefficients are 0 and the
/// message suggests a λ. Only S K S + λ/2·I is tested: the gap is a statement on the objective where K is
/// positive semi-definite. With `indefinite` such a matrix is solved by LDLᵀ in float64 as long as it is regular:
/// the coefficients need not minimise the objective then, neither primal nor dual is given, and the message tells the
/// signs of the eigenvalues (docs/theory/label_aware.md). [docs/theory/machines.md]  O(n³/3 + n² outputs), and n²
/// numbers.
[[nodiscard]] Fit fit_ridge(const GramMatrix& k, MatrixView<const double> targets, const RidgeOptions& options = {});

/// Kernel regression, the minimum-norm interpolant: ridge at λ = 0, where weights only matter by being 0 or not.
[[nodiscard]] Fit fit_regression(const GramMatrix& k, MatrixView<const double> targets, RidgeOptions options = {});

}  // namespace widelimit
