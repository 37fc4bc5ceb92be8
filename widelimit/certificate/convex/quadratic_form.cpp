#include "widelimit/certificate/convex/quadratic_form.hpp"

#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/engine/host/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace widelimit {

namespace {

constexpr Index rows_in_run = 512;

/// A square: its weight and the maximum of its root, which bound its effect.
struct Square {
  Index sample = 0;
  double root = 0;  ///< √|w|
  double most = 0;  ///< |w|·(largest ⟨ỹ, v⟩)²
};

/// Returns the squares of one sign without those of negligible effect; `left` is the total effect of the omitted ones.
std::vector<Square> large_squares(std::vector<Square> squares, double negligible, double& left) {
  std::sort(squares.begin(), squares.end(),
            [](const Square& a, const Square& b) { return a.most != b.most ? a.most < b.most : a.sample < b.sample; });
  left = 0;
  auto first = squares.begin();
  while (first != squares.end() && left + first->most <= negligible) left += (first++)->most;
  squares.erase(squares.begin(), first);
  // Restore memory order.
  std::sort(squares.begin(), squares.end(), [](const Square& a, const Square& b) { return a.sample < b.sample; });
  return squares;
}

/// Returns the maximum of |⟨ỹᵢ, v⟩|.
double largest_root(const Expansion& expansion, Index sample, const double* direction, std::span<const double> scale,
                    bool euclidean) {
  const Index size = std::ssize(expansion.unit);
  const double u = expansion.u[usize(sample)], nu = std::abs(u) * scale[usize(size)];
  if (!euclidean) return expansion.reach[usize(sample)];
  double sum = nu * nu;
  for (Index j = 0; j < size; ++j) {
    const double y = (direction[j] - u * expansion.unit[usize(j)]) * scale[usize(j)];
    sum += y * y;
  }
  return std::sqrt(sum) * (1 + 0x1p-40);
}

/// Adds sign·RᵀR to the upper triangle of b, where R are the rows of one run.
class RunSum {
 public:
  RunSum(Index dimension, double unit)
      : unit_(unit), rows_(usize(rows_in_run * dimension)), sum_(usize(dimension * dimension)) {}

  void add(std::span<const Square> run, const Expansion& expansion, MatrixView<const double> directions,
           std::span<const double> scale, double sign, MatrixView<double> b) {
    const Index size = std::ssize(expansion.unit), dimension = size + 1;
    const host::ResidualFrame frame{.size = size, .unit = expansion.unit.data(), .half = scale.data()};
    for (std::size_t k = 0; k < run.size(); ++k) {
      const double u = expansion.u[usize(run[k].sample)], root = run[k].root * unit_;
      float* row = rows_.data() + static_cast<Index>(k) * dimension;
      host::write_residual(frame, directions.row(run[k].sample), u, root, row);
      row[size] = static_cast<float>(-root * scale[usize(size)] * u);
    }
    const MatrixView<const float> rows{rows_.data(), std::ssize(run), dimension, dimension};
    host::inner_product(rows, {sum_.data(), dimension, dimension, dimension});
    const double factor = sign / (unit_ * unit_);
    for (Index j = 0; j < dimension; ++j) {
      host::add_scaled(dimension - j, factor, sum_.data() + j * dimension + j, b.row(j) + j);
    }
  }

 private:
  double unit_;
  std::vector<float> rows_, sum_;  ///< std::vector reuses its memory, unlike a Matrix
};

void mirror_upper(MatrixView<double> b) {
  for (Index j = 0; j < b.rows; ++j) {
    for (Index k = 0; k < j; ++k) b(j, k) = b(k, j);
  }
}

/// Rounding: entries of a row are accurate to two units of float64, weights to one, and sums of n products in any order
/// to n more. For an ℓ2 ball, ‖ỹᵢ‖ is at most 8.5 times the reach, since scales are radius/0.992 and 8ν.
QuadraticForm held_form(const Expansion& expansion, const ReducedDirections& directions, std::span<const double> scale,
                        bool euclidean) {
  const Index size = std::ssize(expansion.unit);
  QuadraticForm form{.b = Matrix<double>(size + 1, size + 1)};
  const host::ResidualFrame frame{.size = size, .unit = expansion.unit.data(), .half = scale.data()};
  directions.holder()->cones.squares(directions.held(), frame, expansion.u, expansion.w, scale[usize(size)],
                                     form.b.view());
  mirror_upper(form.b.view());
  double total = 0;
  for (std::size_t i = 0; i < expansion.w.size(); ++i) {
    const double root = expansion.reach[i] * (euclidean ? 8.5 : 1);
    total += std::abs(expansion.w[i]) * root * root;
  }
  const auto samples = static_cast<double>(expansion.w.size());
  form.error = 1.01 * (samples + 16) * 0x1p-52 * total;
  return form;
}

}  // namespace

/// Rounding: entries of a run are accurate to two units of float32, sums of m products to m more, and runs are added in
/// float64; underflow is below 2⁻¹²⁰ of the largest row's square.  [docs/theory/certificates-proof.md#convex]
QuadraticForm quadratic_form(const Expansion& expansion, const ReducedDirections& reduced,
                             std::span<const double> scale, bool euclidean, double negligible) {
  if (reduced.holder() != nullptr) return held_form(expansion, reduced, scale, euclidean);
  const MatrixView<const double> directions = reduced.rows();
  const Index dimension = std::ssize(scale);
  std::vector<Square> above, below;
  double largest = 0, total = 0;
  for (Index i = 0; i < directions.rows; ++i) {
    const double w = expansion.w[usize(i)];
    if (w == 0) continue;
    const double root = largest_root(expansion, i, directions.row(i), scale, euclidean);
    const Square square{.sample = i, .root = std::sqrt(std::abs(w)), .most = std::abs(w) * root * root};
    largest = std::max(largest, square.most);
    total += square.most;
    (w > 0 ? above : below).push_back(square);
  }
  QuadraticForm form{.b = Matrix<double>(dimension, dimension)};
  if (largest == 0) return form;
  double ignored_above = 0, ignored_below = 0;
  above = large_squares(std::move(above), negligible, ignored_above);
  below = large_squares(std::move(below), negligible, ignored_below);
  RunSum runs(dimension, 1 / std::sqrt(largest));
  for (const auto& [squares, sign] : {std::pair{std::cref(above), 1.0}, std::pair{std::cref(below), -1.0}}) {
    const auto all = std::span<const Square>(squares.get());
    for (std::size_t k = 0; k < all.size(); k += usize(rows_in_run)) {
      runs.add(all.subspan(k, std::min(usize(rows_in_run), all.size() - k)), expansion, directions, scale, sign,
               form.b.view());
    }
  }
  mirror_upper(form.b.view());
  const auto samples = static_cast<double>(directions.rows);
  const double relative = 1.01 * (rows_in_run + 8) * 0x1p-24 + (samples + 8) * 0x1p-52;
  form.error = 1.01 * (ignored_below + relative * total +
                       static_cast<double>(dimension) * static_cast<double>(dimension) * samples * 0x1p-120 * largest);
  return form;
}

namespace {

/// The quadratic problem, with storage for factors.
class BallProblem {
 public:
  BallProblem(std::span<const double> g, MatrixView<const double> b, double length)
      : g_(g), b_(b), length_(length), factor_(b.rows, b.cols), n_(b.rows) {
    for (Index j = 0; j < b.rows; ++j) {
      double row = 0;
      for (Index k = 0; k < b.cols; ++k) row += std::abs(b(j, k));
      largest_ = std::max(largest_, row);
    }
  }

  /// Upper bound of ‖B‖.
  [[nodiscard]] double largest() const { return largest_; }

  /// Returns −∞ if B + μI is not proved positive definite.
  [[nodiscard]] double bound(double mu) {
    constexpr double nothing = -std::numeric_limits<double>::infinity();
    const auto n = static_cast<double>(n_);
    // Success of the Cholesky factorisation in floating point proves λ_min > −(n + 2)·2⁻⁵²·trace of the factored
    // matrix. Twice that is subtracted first, so that λ_min of B + μI is at least once that.
    const double shift = 2 * (n + 2) * 0x1p-52 * n * (largest_ + mu);
    for (Index j = 0; j < b_.rows; ++j) {
      std::copy(b_.row(j), b_.row(j) + b_.cols, factor_.view().row(j));
      factor_(j, j) += mu - shift;
    }
    if (host::cholesky(factor_.view()) != 0) return nothing;
    // v = −(B + μI)⁻¹g/2; the remaining gradient reduces the bound by at most ‖left‖²/(4λ_min).
    std::vector<double> v(g_.begin(), g_.end());
    host::solve_factored(factor_.view(), v);
    for (double& x : v) x *= -0.5;
    std::vector<double> left(g_.begin(), g_.end());
    host::add_symmetric(2, b_, v, left);
    host::axpy(2 * mu, v, left);
    const double size = euclidean_norm(v.data(), n_), slope = euclidean_norm(g_.data(), n_);
    const double rounding = (n + 8) * 0x1p-52 * (slope + 2 * (std::sqrt(n) * largest_ + mu) * size);
    // The last term prevents underflow of rest².
    const double rest = euclidean_norm(left.data(), n_) * (1 + 0x1p-40) + rounding + 0x1p-500;
    double value = 0;  // ⟨g, v⟩ + vᵀ(B + μI)v = ⟨g + left, v⟩/2
    for (std::size_t j = 0; j < v.size(); ++j) value += (g_[j] + left[j]) / 2 * v[j];
    const double result =
        value - rounding * size - rest * rest / (2 * shift) - mu * length_ * length_ * (1 + 0x1p-50) - n * 0x1p-1000;
    return std::isfinite(result) ? result : nothing;
  }

 private:
  std::span<const double> g_;
  MatrixView<const double> b_;
  double length_;
  Matrix<double> factor_;
  Index n_;
  double largest_ = 0;
};

}  // namespace

/// The bound is concave in μ; it is −∞ below −λ_min(B) and decreases as −μ for large μ. Golden-section search.
double ball_minimum(std::span<const double> g, MatrixView<const double> b, double length) {
  BallProblem problem(g, b, length);
  const double slope = euclidean_norm(g.data(), std::ssize(g));
  double low = 0, high = problem.largest() + slope / (2 * length) + std::numeric_limits<double>::min();
  const double crude = (slope + problem.largest() * length) * length * (1 + 0x1p-40) + 0x1p-1000;
  double best = std::max(-crude, problem.bound(high));
  constexpr double section = 0.381966;
  double left = low + section * (high - low), right = high - section * (high - low);
  double at_left = problem.bound(left), at_right = problem.bound(right);
  for (int round = 0; round < 10; ++round) {
    best = std::max({best, at_left, at_right});
    if (at_left < at_right || !std::isfinite(at_left)) {
      low = left, left = right, at_left = at_right;
      right = high - section * (high - low), at_right = problem.bound(right);
    } else {
      high = right, right = left, at_right = at_left;
      left = low + section * (high - low), at_left = problem.bound(left);
    }
  }
  return std::max({best, at_left, at_right});
}

namespace {

/// b_j = Σ_k |B_jk| s_k/s_j, rounded up.
void weigh_rows(MatrixView<const double> matrix, const std::vector<double>& s, std::vector<double>& b) {
  const double up = 1 + 0x1p-51 * static_cast<double>(matrix.rows + 8);
  for (Index j = 0; j < matrix.rows; ++j) {
    const double* row = matrix.row(j);
    double even = 0, odd = 0;
    Index k = 0;
    for (; k + 2 <= matrix.cols; k += 2) {
      even += std::abs(row[k]) * s[usize(k)];
      odd += std::abs(row[k + 1]) * s[usize(k + 1)];
    }
    if (k < matrix.cols) even += std::abs(row[k]) * s[usize(k)];
    b[usize(j)] = (even + odd) / s[usize(j)] * up;
  }
}

/// State of the iteration for v⁰ and s.
struct BoxState {
  std::vector<double> v, s, b, w;
  std::vector<Interval> ends;

  BoxState(std::size_t n, std::span<const Interval> given) : v(n), s(n, 1.0), b(n), w(n), ends(n, {-1, 1}) {
    if (!ends.empty()) ends.back().low = 0;
    if (!given.empty()) ends.assign(given.begin(), given.end());
    for (std::size_t j = 0; j < n; ++j) v[j] = middle(j);
  }
  [[nodiscard]] double middle(std::size_t j) const { return (ends[j].low + ends[j].high) / 2; }
  [[nodiscard]] double half(std::size_t j) const { return (ends[j].high - ends[j].low) / 2; }

  /// w = g + 2Bv⁰.
  void find_slopes(std::span<const double> g, MatrixView<const double> matrix) {
    std::copy(g.begin(), g.end(), w.begin());
    host::add_symmetric(2, matrix, v, w);
  }
  /// Ratio of the slope of coordinate j to its coupling with the other coordinates, capped at 1.
  [[nodiscard]] double strength(std::size_t j) const {
    const double coupled = 2 * b[j] * half(j);
    return coupled > 0 ? std::min(1.0, std::abs(w[j]) / coupled) : 1;
  }

  /// Moves v⁰ halfway to the optimum for the current slopes.
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

double box_minimum(std::span<const double> g, MatrixView<const double> b, std::span<const Interval> ends) {
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
  // The error of w is (n + 8) units of |g| + 2Σ|B|; it enters the bound with |e| ≤ 2 and |v| ≤ 1; b is rounded up.
  // Products that underflow are multiplied by at most 20.
  const auto terms = static_cast<double>(std::ssize(g) + 16);
  return best - 16 * terms * (0x1p-52 * size + terms * 0x1p-1015);
}

}  // namespace widelimit
