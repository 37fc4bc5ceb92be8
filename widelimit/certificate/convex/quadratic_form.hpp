#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/convex/expansion.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Σᵢ wᵢ(⟨yᵢ, z⟩ − uᵢν)² ≥ vᵀBv − error of an expansion, in v = (z_j/scale_j, ν/scale_ν), for |v_j| ≤ 1 or ‖v‖ ≤ 1.
struct QuadraticForm {
  Matrix<double> b;  ///< symmetric, features + 1
  double error = 0;
};

/// Squares that cannot change the bound by more than `negligible` in all are bounded one by one. The others are summed
/// in float32, runs of them in float64: O(samples·features²). An engine that holds the directions sums all, in float64.
[[nodiscard]] QuadraticForm quadratic_form(const Expansion& expansion, const ReducedDirections& directions,
                                           std::span<const double> scale, bool euclidean, double negligible);

/// A number below ⟨g, v⟩ + vᵀBv for all ‖v‖ ≤ length ≤ 1, rounding counted in; B is symmetric.
///
/// For any μ ≥ 0 that makes B + μI positive definite, ⟨g, v⟩ + vᵀBv ≥ min_v(⟨g, v⟩ + vᵀ(B + μI)v) − μ·length², which
/// grows to the minimum itself at the best μ. That B + μI is positive definite is proved by a Cholesky factor of a
/// smaller matrix, by more than what rounding can hide.  O(n³/3) for each μ tried, about ten.
[[nodiscard]] double ball_minimum(std::span<const double> g, MatrixView<const double> b, double length = 1);

/// A number below ⟨g, v⟩ + vᵀBv for all v with |v_j| ≤ 1 and v_last in [0, 1], rounding counted in; B is symmetric.
/// Where ends are given, parts of [−1, 1], v_j goes from one to the other.
///
/// About any v⁰ and for any s > 0, with w = g + 2Bv⁰ and b_j = Σ_k |B_jk|s_k/s_j,
///   ⟨g, v⟩ + vᵀBv ≥ ⟨g, v⁰⟩ + v⁰ᵀBv⁰ + Σ_j min_{e = ends − v⁰_j}(w_j e − b_j e²),
/// since |e_j e_k| ≤ (e_j²s_k/s_j + e_k²s_j/s_k)/2, and each term is concave in e. With h_j half of what the ends span,
/// where |w_j| ≥ 2b_jh_j an end v⁰_j loses nothing, else v⁰_j = −w_j/(2b_j) off the middle loses least; s lets
/// coordinates with a strong slope bear the weak ones.
/// O(n²) a round, a few rounds.
[[nodiscard]] double box_minimum(std::span<const double> g, MatrixView<const double> b,
                                 std::span<const Interval> ends = {});

}  // namespace widelimit
