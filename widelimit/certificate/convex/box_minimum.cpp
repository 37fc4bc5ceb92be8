#include "widelimit/certificate/convex/box_minimum.hpp"

#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// b_j = Σ_k |B_jk| s_k/s_j, rounded up.
void weigh_rows(MatrixView<const double> matrix, const std::vector<double>& s, std::vector<double>& b) {
  const double up = 1 + 0x1p-51 * static_cast<double>(matrix.rows + 8);
  for (Index j = 0; j < matrix.rows; ++j) {
    const double* row = matrix.row(j);
    double even = 0, odd = 0;
    Index k = 0;
    for (; k + 2 <= matrix.cols; k += 2) {
      even += std::abs(row[k]) * s[at(k)];
      odd += std::abs(row[k + 1]) * s[at(k + 1)];
    }
    if (k < matrix.cols) even += std::abs(row[k]) * s[at(k)];
    b[at(j)] = (even + odd) / s[at(j)] * up;
  }
}

/// What is known about one v⁰ and s.
struct BoxState {
  std::vector<double> v, s, b, w;
  std::vector<BoxEnds> ends;

  BoxState(std::size_t n, std::span<const BoxEnds> given) : v(n), s(n, 1.0), b(n), w(n), ends(n) {
    if (!ends.empty()) ends.back().low = 0;
    if (!given.empty()) ends.assign(given.begin(), given.end());
    for (std::size_t j = 0; j < n; ++j) v[j] = middle(j);
  }
  [[nodiscard]] double middle(std::size_t j) const { return (ends[j].low + ends[j].high) / 2; }
  [[nodiscard]] double half(std::size_t j) const { return (ends[j].high - ends[j].low) / 2; }

  /// w = g + 2Bv⁰.
  void find_slopes(std::span<const double> g, MatrixView<const double> matrix) {
    std::copy(g.begin(), g.end(), w.begin());
    cpu::symv(2, matrix, v, w);
  }
  /// 0 … 1: how much of coordinate j's slope is stronger than what couples it to the others.
  [[nodiscard]] double strength(std::size_t j) const {
    const double coupled = 2 * b[j] * half(j);
    return coupled > 0 ? std::min(1.0, std::abs(w[j]) / coupled) : 1;
  }

  /// Half way to the best v⁰ for these slopes.
  void move() {
    for (std::size_t j = 0; j < v.size(); ++j) {
      const double best = middle(j) - std::copysign(half(j) * strength(j), w[j]);
      v[j] = std::clamp((v[j] + best) / 2, ends[j].low, ends[j].high);
    }
  }
  [[nodiscard]] double bound(std::span<const double> g) const {
    // ⟨g, v⟩ + vᵀBv = ⟨g + w, v⟩/2.
    double sum = 0;
    for (std::size_t j = 0; j < v.size(); ++j) {
      const double left = ends[j].low - v[j], right = ends[j].high - v[j];
      const auto at_end = [&](double e) { return (w[j] - b[j] * e) * e; };
      sum += (g[j] + w[j]) / 2 * v[j] + std::min({0.0, at_end(left), at_end(right)});
    }
    return sum;
  }
  void shift_weights() {
    double mean = 0;
    for (std::size_t j = 0; j < s.size(); ++j) mean += (1 - strength(j)) / static_cast<double>(s.size());
    for (std::size_t j = 0; j < s.size(); ++j) {
      constexpr double pace = 0.35;
      s[j] = std::clamp(s[j] * std::exp(pace * (1 - strength(j) - mean)), 0.05, 20.0);
    }
  }
};

}  // namespace

double box_minimum(std::span<const double> g, MatrixView<const double> b, std::span<const BoxEnds> ends) {
  constexpr int most_rounds = 10, moves = 5;
  BoxState state(g.size(), ends);
  double best = -std::numeric_limits<double>::infinity(), size = 0;
  for (int round = 0; round < most_rounds; ++round) {
    weigh_rows(b, state.s, state.b);
    double moduli = 0;
    for (std::size_t j = 0; j < g.size(); ++j) moduli += std::abs(g[j]) + state.b[j];
    size = std::max(size, moduli);
    for (int k = 0; k < moves; ++k) {
      state.find_slopes(g, b);
      state.move();
    }
    state.find_slopes(g, b);
    const double bound = state.bound(g);
    if (bound < best) break;
    best = bound;
    state.shift_weights();
  }
  // w is off by (n + 8) units of |g| + 2Σ|B|, and goes into the bound with |e| ≤ 2 and |v| ≤ 1; b is rounded up. No
  // product that underflows is multiplied by more than 20.
  const auto terms = static_cast<double>(std::ssize(g) + 16);
  return best - 16 * terms * (0x1p-52 * size + terms * 0x1p-1015);
}

}  // namespace widelimit
