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

}  // namespace widelimit
