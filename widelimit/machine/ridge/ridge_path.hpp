#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

struct RidgePathOptions {
  bool bias = false;
  std::span<const double> weights = {};
  Progress* progress = nullptr;
};

/// One λ of a path: the fit and its leave-one-out predictions.
struct RidgePoint {
  double lambda = 0;
  Fit fit;
  Matrix<double> left_out;  ///< samples × outputs: prediction of each sample by the machine fitted to all others
  /// Σ wᵢ ‖yᵢ − left_outᵢ‖²/Σ wᵢ; empty if the fit failed.
  std::optional<double> loo_error;
  /// Weighted error rate; only if targets are one column of ±1, or every row has one high value and otherwise low ones,
  /// the same two values in all rows.
  std::optional<double> loo_misclassified;
};

struct RidgePath {
  std::vector<RidgePoint> points;  ///< in the order of `lambdas`

  [[nodiscard]] const Matrix<double>& alpha(Index i) const { return points[static_cast<std::size_t>(i)].fit.alpha; }
  [[nodiscard]] std::optional<double> loo_error(Index i) const { return points[static_cast<std::size_t>(i)].loo_error; }
  [[nodiscard]] std::optional<double> loo_misclassified(Index i) const {
    return points[static_cast<std::size_t>(i)].loo_misclassified;
  }
  /// Returns the λ with the smallest squared leave-one-out error; ties go to the largest λ. Empty if all fits failed.
  [[nodiscard]] std::optional<Index> best() const;
  /// Same as best, by the error rate; ties are broken by the squared error.
  [[nodiscard]] std::optional<Index> best_classifier() const;
};

/// Runs fit_ridge for every λ and computes exact leave-one-out predictions. With A = S K S + λ/2·I, S = √W,
/// γ = A⁻¹S(y − b),
///
///     yᵢ − g₋ᵢ(xᵢ) = γᵢ/(sᵢ Mᵢᵢ),   M = A⁻¹, or A⁻¹ − vvᵀ/(sᵀv) with v = A⁻¹s if there is a bias,
///
/// which needs the diagonal of A⁻¹ for each λ. K is reduced to a band matrix once; a shift preserves the band
/// (engine/cpu/algebra/band_family.cpp). O(8n³/3) in total, plus O(n² (200 + 2 outputs)) per λ; 2n² doubles.
/// [docs/theory/machines.md]
[[nodiscard]] RidgePath ridge_path(const GramMatrix& k, MatrixView<const double> targets,
                                   std::span<const double> lambdas, const RidgePathOptions& options = {});

}  // namespace widelimit
