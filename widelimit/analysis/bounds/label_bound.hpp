#pragma once

#include "widelimit/analysis/bounds/rademacher_terms.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// yᵀH⁻¹y = ‖f‖², f the function of least norm in the space of the kernel with f(xᵢ) = yᵢ for all samples.
struct InterpolantNorm {
  std::optional<double> square;     ///< nothing: no function of the kernel takes these values, the norm is infinite
  std::optional<double> condition;  ///< estimate for H; nothing where H is singular
  std::string message;              ///< why there is none, or how sure the value is; else empty
};

/// By Cholesky with refinement. Where H is singular, by its factor of full rank, H = LLᵀ: the norm is that of β with
/// Lβ = y where there is such a β, and infinite else, as for two equal samples with different values; the message then
/// names a sample. Error{input} for y that does not fit H or is not finite, and for H with negative eigenvalues.
/// O(n³/3) and n² doubles.
[[nodiscard]] InterpolantNorm interpolant_norm(const GramMatrix& h, std::span<const double> y,
                                               Progress* progress = nullptr);

struct LabelBoundOptions {
  double delta = BoundSetting{}.delta;
  Progress* progress = nullptr;
};

/// NT-L's bounds for kernel regression, f = k(·,X)H⁻¹y, from labels and kernel alone, without training.
/// All are absent where yᵀH⁻¹y is infinite.                                                   [docs/theory/bounds.md]
struct LabelBound {
  InterpolantNorm norm;
  Index samples = 0;
  double trace = 0;  ///< tr H
  double delta = 0;
  std::optional<double> a_priori;  ///< √(2yᵀH⁻¹y/n) as printed, which assumes H_ii = ½
  std::optional<double> scaled;    ///< 2√(yᵀH⁻¹y·tr H)/n, the same for tr H = n/2, and invariant to scaling H
  std::optional<double> absolute;  ///< of E|f − y|, as printed: `scaled` + √(log(1/δ)/n)
  /// With proved constants, for any labels: bounds the error rate where all are ±1, else E min(1, |f − y|).
  std::optional<UniformBound> uniform;

  /// Neither the error rate nor E min(1, |f − y|) exceeds 1.
  [[nodiscard]] static bool vacuous(double value) { return value >= 1; }
};

/// Values yᵢ of any size; where all are ±1 the bounds also hold for the error rate. Error{input} for δ
/// outside (0, 1) and as interpolant_norm.  O(n³/3).
[[nodiscard]] LabelBound label_bound(const GramMatrix& h, std::span<const double> y,
                                     const LabelBoundOptions& options = {});

}  // namespace widelimit
