#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// The problem that a ridge machine solves.
struct RidgeTask {
  MatrixView<const double> targets;
  double lambda = 1;
  bool bias = false;
  std::span<const double> weights = {};

  [[nodiscard]] double weight(Index i) const { return factor_at(weights, i); }
};

/// Returns the rounding error of products with K of diagonal K_ii if √W K √W + λ/2·I is positive definite; K itself may
/// be indefinite: |K_ij| ≤ √((K_ii + λ/2wᵢ)(K_jj + λ/2wⱼ)).
[[nodiscard]] ProductRounding ridge_rounding(std::span<const double> diagonal, double asymmetry, const RidgeTask& task);

/// Sets primal, dual, gap and residual of a fit from g = Kα (without bias), with all rounding errors included
/// [docs/theory/machines.md]: with r = y − g − b
///
///     primal = λ/2 αᵀKα + Σ wᵢ rᵢ²,   primal − dual = Σ wᵢ (rᵢ − λᾱᵢ/(2wᵢ))² + λ/2 (α − ᾱ)ᵀK(α − ᾱ),
///
/// where ᾱ are the coefficients or, with a bias, the nearest coefficients whose sum is exactly 0; `gradient` is
/// √Σ wᵢ(rᵢ − λαᵢ/(2wᵢ))² relative to the same norm of y. Values that overflow float64 are omitted, as are dual and gap
/// at λ = 0. The values hold for a positive semi-definite K: if αᵀKα < 0 shows that K is indefinite, dual and gap are
/// omitted too, and the message says why. Returns whether rounding of g dominates the residual.
bool check_residual(MatrixView<const double> g, const ProductRounding& rounding, bool precise, const RidgeTask& task,
                    Fit& fit);

/// Runs check_residual with a product by K. If rounding dominates a residual above 1e-9, repeats it with a product in
/// doubled precision.
void prove_ridge(const GramMatrix& k, const RidgeTask& task, Fit& fit, Progress* progress);

/// Same as prove_ridge for several machines on one matrix; their products are combined, so that K is read once.
struct RidgeSolution {
  RidgeTask task;
  Fit* fit = nullptr;
};
void prove_ridges(const GramMatrix& k, std::span<const RidgeSolution> solutions, Progress* progress);

}  // namespace widelimit
