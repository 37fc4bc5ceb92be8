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

/// One λ of a path: the machine and its leave-one-out predictions.
struct RidgePoint {
  double lambda = 0;
  Fit fit;
  Matrix<double> left_out;  ///< samples × outputs: prediction for a sample by the machine of all others
  /// Σ wᵢ ‖yᵢ − left_outᵢ‖²/Σ wᵢ; empty where the fit failed.
  std::optional<double> loo_error;
  /// Weighted error rate; only where targets are one column of ±1, or all rows have one high value among low ones, the
  /// same two values in all rows.
  std::optional<double> loo_misclassified;
};

struct RidgePath {
  std::vector<RidgePoint> points;  ///< in the order of the given λ

  [[nodiscard]] const Matrix<double>& alpha(Index i) const { return points[static_cast<std::size_t>(i)].fit.alpha; }
  [[nodiscard]] std::optional<double> loo_error(Index i) const { return points[static_cast<std::size_t>(i)].loo_error; }
  [[nodiscard]] std::optional<double> loo_misclassified(Index i) const {
    return points[static_cast<std::size_t>(i)].loo_misclassified;
  }
  /// The λ of the smallest squared leave-one-out error, ties by the largest λ; empty where all fits failed.
  [[nodiscard]] std::optional<Index> best() const;
  /// The same by the error rate, ties by the squared error.
  [[nodiscard]] std::optional<Index> best_classifier() const;
};

/// fit_ridge for every λ, each with its exact leave-one-out predictions. With A = S K S + λ/2·I, S = √W, γ = A⁻¹S(y −
/// b),
///
///     yᵢ − g₋ᵢ(xᵢ) = γᵢ/(sᵢ Mᵢᵢ),   M = A⁻¹, or A⁻¹ − vvᵀ/(sᵀv) with v = A⁻¹s where there is a bias,
///
/// which needs the diagonal of A⁻¹ for each λ. K is reduced to a band matrix once; a shift preserves the band
/// (engine/cpu/algebra/band_family.cpp).  O(8n³/3) for all, O(n² (200 + 2 outputs)) for each λ; 2n² doubles.
/// [docs/theory/machines.md]
[[nodiscard]] RidgePath ridge_path(const GramMatrix& k, MatrixView<const double> targets,
                                   std::span<const double> lambdas, const RidgePathOptions& options = {});

}  // namespace widelimit
