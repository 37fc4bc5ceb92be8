#pragma once

#include "widelimit/base/types.hpp"

/// Residuals of directions along another vector: y = x − t·ĉ, t = (⟨x, c⟩ + offset)/‖c‖.
namespace widelimit::host {

/// Frame of the residuals; all arrays have `size` numbers.
struct ResidualFrame {
  Index size = 0;
  const double* centre = nullptr;  ///< c
  const double* unit = nullptr;    ///< ĉ
  const double* half = nullptr;    ///< half-widths that weight y
  double norm = 0;                 ///< ‖c‖
};

struct Residual {
  double inner = 0;  ///< ⟨x, c⟩
  double reach = 0;  ///< Σ|y_j|·half_j, or ‖y‖
};

/// The order of summation depends on the vector width.
[[nodiscard]] Residual residual_of(const ResidualFrame& frame, const double* x, bool euclidean, double offset = 0);

/// to_j = root·half_j·(x_j − t·ĉ_j), computed in float64 and rounded once.
void write_residual(const ResidualFrame& frame, const double* x, double t, double root, float* to);

/// to_k += factor·from_k, in float64.
void add_scaled(Index count, double factor, const float* from, double* to);

}  // namespace widelimit::host
