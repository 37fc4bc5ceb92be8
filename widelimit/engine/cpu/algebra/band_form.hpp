#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"

#include <algorithm>

namespace widelimit::cpu {

/// A = Q B Qᵀ with Q orthogonal and B a symmetric band matrix, in blocks of `width` rows (the last may be shorter),
/// which couple only to their neighbours:
///
///     B_kk in rows k·width … of `diagonal`,  B_{k,k−1} in the same rows of `below`.
///
/// Each shift A + cI then costs O(n² width), as with eigenvectors, at half their setup cost: only matrix products, no
/// tridiagonal form and no iteration.
struct BandForm {
  /// Wide enough for efficient matrix products, narrow enough for cheap shifts.
  static constexpr Index width = 48;

  Matrix<double> q;
  Matrix<double> diagonal;
  Matrix<double> below;

  [[nodiscard]] Index samples() const { return q.rows(); }
  [[nodiscard]] Index blocks() const { return (samples() + width - 1) / width; }
  [[nodiscard]] Index rows(Index block) const { return std::min(width, samples() - block * width); }
};

/// Block Householder reduction: a QR factorisation triangularises the part of A below the first block of the band, the
/// reflections are applied to the rest of A from both sides, and so on. Reads the upper triangle of `a`, whose memory
/// is reused for Q.  8n³/3 multiply-adds in products, and 2n² doubles including `a`.
[[nodiscard]] BandForm band_form(Matrix<double> a, int threads, Progress* progress);

}  // namespace widelimit::cpu
