#pragma once

#include "widelimit/analysis/bounds/interpolant_norm.hpp"
#include "widelimit/analysis/bounds/rademacher_terms.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <optional>
#include <span>

namespace widelimit {

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
