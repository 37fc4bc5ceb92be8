#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>

namespace widelimit {

/// A part of [−1, 1].
struct BoxEnds {
  double low = -1;
  double high = 1;
};

/// A number below ⟨g, v⟩ + vᵀBv for all v with |v_j| ≤ 1 and v_last in [0, 1], rounding counted in; B is symmetric.
/// Where ends are given, v_j goes from one to the other.
///
/// About any v⁰ and for any s > 0, with w = g + 2Bv⁰ and b_j = Σ_k |B_jk|s_k/s_j,
///   ⟨g, v⟩ + vᵀBv ≥ ⟨g, v⁰⟩ + v⁰ᵀBv⁰ + Σ_j min_{e = ends − v⁰_j}(w_j e − b_j e²),
/// since |e_j e_k| ≤ (e_j²s_k/s_j + e_k²s_j/s_k)/2, and each term is concave in e. With h_j half of what the ends span,
/// where |w_j| ≥ 2b_jh_j an end v⁰_j loses nothing, else v⁰_j = −w_j/(2b_j) off the middle loses least; s lets
/// coordinates with a strong slope bear the weak ones.
/// O(n²) a round, a few rounds.
[[nodiscard]] double box_minimum(std::span<const double> g, MatrixView<const double> b,
                                 std::span<const BoxEnds> ends = {});

}  // namespace widelimit
