#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/gram/product_error.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// What a ridge machine was fitted to.
struct RidgeTask {
  MatrixView<const double> targets;
  double lambda = 1;
  bool bias = false;
  std::span<const double> weights = {};

  [[nodiscard]] double weight(Index i) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; }
};

/// Rounding of products with K of diagonal K_ii, where √W K √W + λ/2·I is positive definite, whether or not K is
/// semi-definite: |K_ij| ≤ √((K_ii + λ/2wᵢ)(K_jj + λ/2wⱼ)).
[[nodiscard]] ProductRounding ridge_rounding(std::span<const double> diagonal, double asymmetry, const RidgeTask& task);

/// Primal, dual, gap and residual of coefficients whose g = Kα, without the bias, is given, all rounding counted
/// [docs/theory/machines.md]: with r = y − g − b
///
///     primal = λ/2 αᵀKα + Σ wᵢ rᵢ²,   primal − dual = Σ wᵢ (rᵢ − λᾱᵢ/(2wᵢ))² + λ/2 (α − ᾱ)ᵀK(α − ᾱ),
///
/// ᾱ the coefficients, or with a bias those nearest to them whose sum is exactly 0; `gradient` is √Σ wᵢ(rᵢ −
/// λαᵢ/(2wᵢ))² beside that of y. Numbers beyond float64 are left out, and dual and gap at λ = 0. They say what they say
/// of a positive semi-definite K: where αᵀKα < 0 shows that it is not, dual and gap are left out too, and the message
/// says why. Whether rounding of g is most of the residual.
bool judge_ridge(MatrixView<const double> g, const ProductRounding& rounding, bool precise, const RidgeTask& task,
                 Fit& fit);

/// judge_ridge of a matrix in memory, by a product in twice the precision where rounding of the first one is most of a
/// residual above 1e-9.
void prove_ridge(const GramMatrix& k, const RidgeTask& task, Fit& fit, Progress* progress);

/// The same of several machines with one matrix, whose products are made together: K is read once, not for each.
struct RidgeClaim {
  RidgeTask task;
  Fit* fit = nullptr;
};
void prove_ridges(const GramMatrix& k, std::span<const RidgeClaim> claims, Progress* progress);

}  // namespace widelimit
