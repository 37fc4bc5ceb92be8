#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit::host {

/// What is known of single samples x of `length` entries, the last of which is the constant 1.
struct AngleSide {
  const double* norm;     ///< ‖x‖
  const double* square;   ///< ‖x‖²
  const double* mean;     ///< of the entries
  const double* inverse;  ///< of √Σ(x_k − mean)², or 0 where that is 0
};

/// Functions of one sample with each of several, a number a pair.
struct AngleRow {
  const double* products;  ///< given: Σ(x_k − mean)(x'_k − mean') without the constant 1
  double* inner;           ///< ⟨x, x'⟩
  double* cosine;          ///< ⟨x, x'⟩/‖x‖‖x'‖
  double* square;          ///< ‖x − x'‖²
  double* norms;           ///< ‖x‖‖x'‖
  double* sine;            ///< √(1 − cosine²)
  double* angle;           ///< arccos(cosine)
  double* radial;          ///< exp(−‖x − x'‖²/width)
  double* correlation;     ///< Pearson's
};

/// All of them for sample `at` of the left side with `size` samples of the right side from `first` on. Vectorised; two
/// units in the last place for angles, one for exponentials.
void angle_pass(const AngleSide& left, Index at, const AngleSide& right, Index first, Index size, double length,
                double width, const AngleRow& row);

}  // namespace widelimit::host
