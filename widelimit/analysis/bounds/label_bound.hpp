#pragma once

#include "widelimit/analysis/bounds/rademacher_terms.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// yᵀH⁻¹y = ‖f‖² of the minimum-norm interpolant f, f(xᵢ) = yᵢ for all samples, in the RKHS of the kernel.
struct InterpolantNorm {
  std::optional<double> square;     ///< empty if no function of the RKHS interpolates, i.e. the norm is infinite
  std::optional<double> condition;  ///< estimate for H; empty if H is singular
  std::string message;              ///< reason why there is no norm, or its accuracy; else empty
};

/// Computes the norm by Cholesky factorisation with iterative refinement. If H is singular, it uses a rank-revealing
/// factor H = LLᵀ: the norm is ‖β‖² if Lβ = y has a solution, and infinite otherwise, e.g. for two equal samples with
/// different values; the message then names a sample. Throws Error{input} if y does not match H or is not finite, and
/// if H has negative eigenvalues. O(n³/3) time, n² doubles.
[[nodiscard]] InterpolantNorm interpolant_norm(const GramMatrix& h, std::span<const double> y,
                                               Progress* progress = nullptr);

struct LabelBoundOptions {
  double delta = BoundSetting{}.delta;
  Progress* progress = nullptr;
};

/// NT-L bounds for kernel regression f = k(·,X)H⁻¹y from labels and kernel alone, without training. All are empty if
/// yᵀH⁻¹y is infinite. [docs/theory/bounds.md]
struct LabelBound {
  InterpolantNorm norm;
  Index samples = 0;
  double trace = 0;  ///< tr H
  double delta = 0;
  std::optional<double> a_priori;  ///< √(2yᵀH⁻¹y/n) as printed, assumes H_ii = ½
  std::optional<double> scaled;  ///< 2√(yᵀH⁻¹y·tr H)/n: invariant to scaling of H, equal to `a_priori` for tr H = n/2
  std::optional<double> absolute;  ///< bound on E|f − y| as printed: `scaled` + √(log(1/δ)/n)
  /// With proved constants, for arbitrary labels: bounds the error rate if all labels are ±1, else E min(1, |f − y|).
  std::optional<UniformBound> uniform;

  /// The error rate and E min(1, |f − y|) never exceed 1.
  [[nodiscard]] static bool vacuous(double value) { return value >= 1; }
};

/// Computes the bounds for arbitrary yᵢ; if all are ±1, they also hold for the error rate. Throws Error{input} if δ is
/// outside (0, 1), and as interpolant_norm. O(n³/3).
[[nodiscard]] LabelBound label_bound(const GramMatrix& h, std::span<const double> y,
                                     const LabelBoundOptions& options = {});

/// Labels ±1, each flipped with probability p < ½, fitted by k(x,X)(H + λI)⁻¹ỹ; the bounds concern the error rate with
/// respect to the clean labels y.
struct NoisyLabels {
  double flip = 0;  ///< p

  /// Throws Error{input} unless 0 ≤ p < ½.
  void validate() const;
};

/// Returns NT-L Theorem 6 with constant 1 for O(·): (√λ·√(yᵀH⁻¹y/n) + 1/√λ)/(1 − 2p), y the clean labels. Shows the
/// shape only: the paper gives no constants. [docs/theory/bounds.md]
[[nodiscard]] double noisy_label_shape(const NoisyLabels& labels, double norm_square, Index samples, double lambda);

/// Returns the minimiser λ = √(n/yᵀH⁻¹y); the minimum is 2(yᵀH⁻¹y/n)^¼/(1 − 2p).
[[nodiscard]] double noisy_label_best_lambda(double norm_square, Index samples);

/// Returns a valid bound: for flips independent of x, P(sign f ≠ ỹ) = p + (1 − 2p)·P(sign f ≠ y), so a bound for noisy
/// labels gives max(0, (bound − p)/(1 − 2p)) for the clean ones. Requires p, but no clean labels.
[[nodiscard]] double clean_error_bound(const NoisyLabels& labels, double noisy_bound);

}  // namespace widelimit
