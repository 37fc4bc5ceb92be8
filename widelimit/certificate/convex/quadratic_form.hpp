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

/// Squares whose total effect on the bound is at most `negligible` are bounded individually. The others are summed in
/// float32, with float64 sums of runs: O(samples·features²). An engine that holds the directions sums all in float64.
[[nodiscard]] QuadraticForm quadratic_form(const Expansion& expansion, const ReducedDirections& directions,
                                           std::span<const double> scale, bool euclidean, double negligible);

/// Returns a lower bound of ⟨g, v⟩ + vᵀBv for all ‖v‖ ≤ length ≤ 1, including rounding; B is symmetric.
///
/// For any μ ≥ 0 with B + μI positive definite, ⟨g, v⟩ + vᵀBv ≥ min_v(⟨g, v⟩ + vᵀ(B + μI)v) − μ·length², with equality
/// at the optimal μ. Positive definiteness of B + μI is proved by a Cholesky factorisation of a matrix that is smaller
/// by more than the rounding error. O(n³/3) per μ, about ten values of μ.
[[nodiscard]] double ball_minimum(std::span<const double> g, MatrixView<const double> b, double length = 1);

/// Returns a lower bound of ⟨g, v⟩ + vᵀBv for all v with |v_j| ≤ 1 and v_last in [0, 1], including rounding; B is
/// symmetric. If `ends` is given, v_j is in ends[j] ⊆ [−1, 1] instead.
///
/// For any v⁰ and s > 0, with w = g + 2Bv⁰ and b_j = Σ_k |B_jk|s_k/s_j,
///   ⟨g, v⟩ + vᵀBv ≥ ⟨g, v⁰⟩ + v⁰ᵀBv⁰ + Σ_j min_{e = ends − v⁰_j}(w_j e − b_j e²),
/// since |e_j e_k| ≤ (e_j²s_k/s_j + e_k²s_j/s_k)/2, and each term is concave in e. Let h_j be half the length of the
/// interval of v_j. If |w_j| ≥ 2b_jh_j, an endpoint v⁰_j loses nothing; otherwise the offset v⁰_j = −w_j/(2b_j) from
/// the midpoint loses least. s shifts curvature to coordinates with a large slope. O(n²) per iteration, a few
/// iterations.
[[nodiscard]] double box_minimum(std::span<const double> g, MatrixView<const double> b,
                                 std::span<const Interval> ends = {});

}  // namespace widelimit
