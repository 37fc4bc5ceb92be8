#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"

#include <algorithm>

namespace widelimit::cpu {

/// A = Q B Qᵀ with Q orthogonal and B a symmetric band, cut into blocks of `width` rows (the last may be shorter), each
/// of which meets only its neighbours:
///
///     B_kk in rows k·width … of `diagonal`,  B_{k,k−1} in the same rows of `below`.
///
/// A whole path of shifts A + cI then costs O(n² width) each, as much as eigenvectors would give, for half the price of
/// eigenvectors: products of matrices all the way, no tridiagonal form, no iteration.
struct BandForm {
  /// Wide enough for products with so many columns to run at speed, narrow enough that a shift stays cheap.
  static constexpr Index width = 48;

  Matrix<double> q;
  Matrix<double> diagonal;
  Matrix<double> below;

  [[nodiscard]] Index samples() const { return q.rows(); }
  [[nodiscard]] Index blocks() const { return (samples() + width - 1) / width; }
  [[nodiscard]] Index rows(Index block) const { return std::min(width, samples() - block * width); }
};

/// By blocks of Householder reflections: the part of A below the first block of the band is made triangular by a QR
/// factorisation, the rest of A is transformed from both sides, and so on. Reads the upper triangle of `a`, whose
/// memory becomes that of Q.  8n³/3 multiply-adds' worth of products, and 2n² doubles with `a`.
[[nodiscard]] BandForm band_form(Matrix<double> a, int threads, Progress* progress);

}  // namespace widelimit::cpu
