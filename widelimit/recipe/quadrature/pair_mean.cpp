#include "widelimit/recipe/quadrature/pair_mean.hpp"

#include "widelimit/recipe/quadrature/gauss_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

/// Means of φφ, of φ'φ', and of (φ(u)/r ∓ φ(v)/r')²/2.
struct Means {
  double values = 0.0, slopes = 0.0, minus = 0.0, plus = 0.0;

  void add(double weight, const Means& other) {
    values += weight * other.values;
    slopes += weight * other.slopes;
    minus += weight * other.minus;
    plus += weight * other.plus;
  }
};

constexpr double smallest_apart = 0.04;
/// Truncation of the integrals, in deviations.
constexpr double horizon = 8.5;
constexpr std::size_t legendre_order = 16;
constexpr std::size_t hermite_order = 20;  // exact for the product of two pieces

struct PairRules {
  GaussLegendre legendre = gauss_legendre(legendre_order);
  std::array<double, hermite_order> nodes{};
  std::array<double, hermite_order> weights{};

  PairRules() {
    const GaussHermite rule = gauss_hermite(hermite_order);
    std::copy(rule.nodes.begin(), rule.nodes.end(), nodes.begin());
    std::copy(rule.weights.begin(), rule.weights.end(), weights.begin());
  }
};
const PairRules& pair_rules() {
  static const PairRules rules;
  return rules;
}

double inverse_root(long double square) { return square > 0 ? static_cast<double>(1 / std::sqrt(square)) : 0.0; }

/// ∫∫ φ(u)φ(v) over the panels of both samples. Given u = s·z, v/s' is normal with mean ρz and variance 1 − ρ².
PairMean over_panels(const GaussianSample& first, const GaussianSample& second, double t, bool positive) {
  const double rho = positive ? 1 - t : t - 1;
  const double variance = t * (2 - t);
  const double reach = horizon * std::sqrt(variance);
  const std::size_t count = second.z.size();
  double values = 0;
  double slopes = 0;
  for (std::size_t q = 0; q < first.z.size() && first.z[q] < 2 * horizon; ++q) {
    for (const double side : {1.0, -1.0}) {
      double inner = 0;
      double inner_slope = 0;
      for (const double other : {1.0, -1.0}) {
        const double mean = other * side * rho * first.z[q];
        const auto begin = std::lower_bound(second.z.begin(), second.z.end(), mean - reach) - second.z.begin();
        const std::vector<double>& phi = other > 0 ? second.above : second.below;
        const std::vector<double>& phi_slope = other > 0 ? second.slope_above : second.slope_below;
        for (auto p = static_cast<std::size_t>(begin); p < count && second.z[p] < mean + reach; ++p) {
          const double distance = second.z[p] - mean;
          const double weight = second.panel[p] * std::exp(-distance * distance / (2 * variance));
          inner += weight * phi[p];
          inner_slope += weight * phi_slope[p];
        }
      }
      values += first.weight[q] * (side > 0 ? first.above : first.below)[q] * inner;
      slopes += first.weight[q] * (side > 0 ? first.slope_above : first.slope_below)[q] * inner_slope;
    }
  }
  const double norm = 1 / std::sqrt(2 * std::numbers::pi * variance);
  const double size = norm * inverse_root(first.square) * inverse_root(second.square);
  return {norm * values, norm * slopes, 1 - std::abs(size * values)};
}

class NearDiagonal {
 public:
  NearDiagonal(const GaussianSample& first, const GaussianSample& second, double t, bool positive)
      : alpha_(std::sqrt(1 - t / 2)),
        beta_(std::sqrt(t / 2)),
        u_{first.pieces.get(), first.deviation, 1, inverse_root(first.square)},
        v_{second.pieces.get(), positive ? second.deviation : -second.deviation, -1, inverse_root(second.square)} {}

  [[nodiscard]] PairMean run() {
    const GaussLegendre& rule = pair_rules().legendre;
    const std::vector<double> ends = outer_ends();
    const double norm = 1 / std::sqrt(2 * std::numbers::pi);
    Means sum;
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
      const double half = (ends[k + 1] - ends[k]) / 2;
      for (std::size_t q = 0; q < legendre_order; ++q) {
        const double m = ends[k] + half * (1 + rule.nodes[q]);
        sum.add(norm * half * rule.weights[q] * std::exp(-m * m / 2), over_difference(m));
      }
    }
    return {sum.values, sum.slopes, sum.values >= 0 ? sum.minus : sum.plus};
  }

 private:
  /// One of the variables u = s(αm + βd), v = ±s'(αm − βd).
  struct Side {
    const Pieces* pieces;
    double deviation;   ///< with the sign of the correlation
    double difference;  ///< sign of d
    double inverse;     ///< 1/√E[φ²]
    std::array<double, hermite_order> values{}, slopes{};

    /// Evaluates consecutive points that lie in one piece together.
    void evaluate(std::span<const double> x) {
      for (std::size_t first = 0; first < x.size();) {
        const Piece& piece = pieces->around(x[first]);
        std::size_t last = first + 1;
        while (last < x.size() && x[last] >= piece.left && x[last] < piece.right) ++last;
        piece.at(x.subspan(first, last - first), values.data() + first, slopes.data() + first);
        first = last;
      }
    }
  };

  /// Boundaries of panels over m: boundaries of pieces, multiples of two deviations, and points at the scale β around
  /// edges.
  [[nodiscard]] std::vector<double> outer_ends() const {
    std::vector<double> ends{-horizon, -6, -4, -2, 0, 2, 4, 6, horizon};
    std::vector<double> edges;
    for (const Side* side : {&u_, &v_}) {
      for (const Piece& piece : side->pieces->list) ends.push_back(piece.left / side->deviation / alpha_);
      for (const double edge : side->pieces->edges) edges.push_back(edge / side->deviation / alpha_);
    }
    const std::size_t single = edges.size();
    for (std::size_t a = 0; a < u_.pieces->edges.size(); ++a) {  // the crossing of two edge lines is a kink
      for (std::size_t b = u_.pieces->edges.size(); b < single; ++b) {
        if (alpha_ * std::abs(edges[a] - edges[b]) < 2 * horizon * beta_) edges.push_back((edges[a] + edges[b]) / 2);
      }
    }
    const double layer = beta_ / alpha_;
    for (std::size_t k = 0; k < edges.size(); ++k) {
      ends.push_back(edges[k]);
      if (k >= single || layer < 1e-12) continue;
      for (const double far : {1.0, 2.5, 4.5, 6.5, 8.5}) {
        ends.push_back(edges[k] - far * layer);
        ends.push_back(edges[k] + far * layer);
      }
    }
    return sorted(ends);
  }

  static std::vector<double> sorted(std::vector<double>& ends) {
    std::erase_if(ends, [](double end) { return !(std::abs(end) <= horizon); });
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end(), [](double a, double b) { return b - a < 1e-14; }), ends.end());
    return std::move(ends);
  }

  /// Mean over d for a given m.
  Means over_difference(double m) {
    std::vector<double> ends;
    if (beta_ > 0) {
      for (const Side* side : {&u_, &v_}) add_crossings(*side, m, ends);
    }
    if (ends.empty()) return by_hermite(m);
    for (const double unit : {-horizon, -3.0, 0.0, 3.0, horizon}) ends.push_back(unit);
    ends = sorted(ends);
    const GaussLegendre& rule = pair_rules().legendre;
    const double norm = 1 / std::sqrt(2 * std::numbers::pi);
    Means sum;
    std::array<double, legendre_order> d{};
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
      const double half = (ends[k + 1] - ends[k]) / 2;
      for (std::size_t q = 0; q < legendre_order; ++q) d[q] = ends[k] + half * (1 + rule.nodes[q]);
      products(m, d);
      for (std::size_t q = 0; q < legendre_order; ++q) {
        sum.add(norm * half * rule.weights[q] * std::exp(-d[q] * d[q] / 2), at(q));
      }
    }
    return sum;
  }

  /// Adds the values of d at which one side crosses an edge, or the boundary of a piece shorter than six deviations of
  /// d; on longer pieces, the Gauss–Hermite rule integrates φ like a polynomial.
  void add_crossings(const Side& side, double m, std::vector<double>& ends) const {
    const double middle = side.deviation * alpha_ * m;
    const double unit = std::abs(side.deviation) * beta_;
    const double from = middle - horizon * unit;
    const double to = middle + horizon * unit;
    const auto add = [&](double x) { ends.push_back((x / side.deviation - alpha_ * m) / (side.difference * beta_)); };
    const std::vector<double>& edges = side.pieces->edges;
    for (auto edge = std::upper_bound(edges.begin(), edges.end(), from); edge != edges.end() && *edge < to; ++edge) {
      add(*edge);
    }
    const Piece* last = side.pieces->list.data() + side.pieces->list.size() - 1;
    for (const Piece* piece = &side.pieces->around(from); piece != last && piece->right < to; ++piece) {
      if (std::min(piece->right - piece->left, piece[1].right - piece[1].left) < 6 * unit) add(piece->right);
    }
  }

  Means by_hermite(double m) {
    const PairRules& rules = pair_rules();
    products(m, rules.nodes);
    Means sum;
    for (std::size_t q = 0; q < hermite_order; ++q) sum.add(rules.weights[q], at(q));
    return sum;
  }

  /// Integrands at point q of the last evaluation.
  [[nodiscard]] Means at(std::size_t q) const {
    const double a = u_.inverse * u_.values[q];
    const double b = v_.inverse * v_.values[q];
    return {u_.values[q] * v_.values[q], u_.slopes[q] * v_.slopes[q], (a - b) * (a - b) / 2, (a + b) * (a + b) / 2};
  }

  /// Evaluates φ and φ' of both sides at all d.
  void products(double m, std::span<const double> d) {
    std::array<double, hermite_order> x{};
    for (Side* side : {&u_, &v_}) {
      for (std::size_t i = 0; i < d.size(); ++i) {
        x[i] = side->deviation * (alpha_ * m + side->difference * beta_ * d[i]);
      }
      side->evaluate(std::span(x).first(d.size()));
    }
  }

  double alpha_;
  double beta_;
  Side u_;
  Side v_;
};

}  // namespace

PairMean pair_mean(const GaussianSample& first, const GaussianSample& second, double t, bool positive) {
  return t >= smallest_apart ? over_panels(first, second, t, positive) : NearDiagonal(first, second, t, positive).run();
}

}  // namespace widelimit
