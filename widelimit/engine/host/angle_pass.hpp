#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit::host {

/// Per-sample quantities of samples x with `length` entries, the last of which is the constant 1.
struct AngleSide {
  const double* norm;     ///< ‖x‖
  const double* square;   ///< ‖x‖²
  const double* mean;     ///< mean of the entries
  const double* inverse;  ///< 1/√Σ(x_k − mean)², or 0 if that sum is 0
};

/// Functions of one sample paired with several others, one number per pair.
struct AngleRow {
  const double* products;  ///< input: Σ(x_k − mean)(x'_k − mean') without the constant 1
  double* inner;           ///< ⟨x, x'⟩
  double* cosine;          ///< ⟨x, x'⟩/‖x‖‖x'‖
  double* square;          ///< ‖x − x'‖²
  double* norms;           ///< ‖x‖‖x'‖
  double* sine;            ///< √(1 − cosine²)
  double* angle;           ///< arccos(cosine)
  double* radial;          ///< exp(−‖x − x'‖²/width)
  double* correlation;     ///< Pearson correlation
};

/// Computes all members of `row` for sample `at` of the left side and samples first … first + size − 1 of the right
/// side. Vectorised; errors of at most two ulp for angles and one ulp for exponentials.
void angle_pass(const AngleSide& left, Index at, const AngleSide& right, Index first, Index size, double length,
                double width, const AngleRow& row);

}  // namespace widelimit::host
