#pragma once

#include "widelimit/base/types.hpp"

/// Directions less their part along another: y = x − t·ĉ, t = (⟨x, c⟩ + offset)/‖c‖.
namespace widelimit::host {

/// What residuals are taken against, all of `size` numbers.
struct ResidualFrame {
  Index size = 0;
  const double* centre = nullptr;  ///< c
  const double* unit = nullptr;    ///< ĉ
  const double* half = nullptr;    ///< widths by which y is weighed
  double norm = 0;                 ///< ‖c‖
};

struct Residual {
  double inner = 0;  ///< ⟨x, c⟩
  double reach = 0;  ///< Σ|y_j|·half_j, or ‖y‖
};

/// Sums in as many parts as the processor likes.
[[nodiscard]] Residual residual_of(const ResidualFrame& frame, const double* x, bool euclidean, double offset = 0);

/// to_j = root·half_j·(x_j − t·ĉ_j), computed in float64 and rounded once.
void write_residual(const ResidualFrame& frame, const double* x, double t, double root, float* to);

/// to_k += factor·from_k, in float64.
void add_scaled(Index count, double factor, const float* from, double* to);

}  // namespace widelimit::host
