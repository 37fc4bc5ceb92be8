#include "widelimit/backend/cpu/hermite_series.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/recipe/gauss_hermite.hpp"

#include <cmath>
#include <span>

namespace widelimit::cpu {

namespace {

/// xⁱ = Σ_k c_ik h_k(x), c_ik = i!/(2^m·m!·√k!), m = (i−k)/2, for k ≤ i of the same parity.
long double monomial_coefficient(int i, int k) {
  if (k > i || (i - k) % 2 != 0) return 0;
  const auto m = static_cast<long double>(i - k) / 2;
  return std::exp(std::lgamma(static_cast<long double>(i) + 1) - m * std::log(2.0L) - std::lgamma(m + 1) -
                  std::lgamma(static_cast<long double>(k) + 1) / 2);
}

HermiteSeries polynomial_series(std::span<const double> coef, long double s) {
  const auto count = static_cast<int>(coef.size());
  HermiteSeries series{std::vector<long double>(coef.size(), 0), 0.0};
  for (int i = 0; i < count; ++i) {
    const long double scaled = static_cast<long double>(coef[static_cast<std::size_t>(i)]) * std::pow(s, i);
    for (int k = i % 2; k <= i; k += 2) {
      series.coefficients[static_cast<std::size_t>(k)] += scaled * monomial_coefficient(i, k);
    }
  }
  return series;
}

/// √weight_q·h_k(node_q) for all k < series_nodes, and √weight_q: rows of an orthogonal matrix.
struct Basis {
  std::vector<long double> nodes;
  std::vector<long double> roots;
  std::vector<double> rows;
};

const Basis& basis() {
  static const Basis table = [] {
    const GaussHermite rule = gauss_hermite(series_nodes);
    Basis b;
    b.nodes = rule.nodes;
    std::vector<long double> h(series_nodes);
    for (std::size_t q = 0; q < rule.nodes.size(); ++q) {
      const long double root = std::sqrt(rule.weights[q]);
      b.roots.push_back(root);
      hermite_polynomials(rule.nodes[q], series_nodes, h.data());
      for (const long double value : h) b.rows.push_back(static_cast<double>(root * value));
    }
    return b;
  }();
  return table;
}

void evaluate_at_nodes(const Recipe& recipe, const Dual& dual, std::span<const double> x, std::span<double> y) {
  if (dual.phi == Phi::custom) {
    (*recipe.functions[static_cast<std::size_t>(dual.function)])(x, y);
  } else {
    const Activation activation{.phi = dual.phi};
    for (std::size_t q = 0; q < x.size(); ++q) y[q] = evaluate(activation, x[q]);
  }
  for (std::size_t q = 0; q < x.size(); ++q) {
    if (!std::isfinite(y[q])) {
      fail(Code::numerical, "activation {} is {} at {}; it must be finite everywhere, or the data scaled so that it is",
           to_string(dual.phi), y[q], x[q]);
    }
  }
}

HermiteSeries quadrature_series(const Recipe& recipe, const Dual& dual, long double s) {
  const Basis& b = basis();
  std::vector<double> x(series_nodes);
  std::vector<double> y(series_nodes);
  for (std::size_t q = 0; q < x.size(); ++q) x[q] = static_cast<double>(s * b.nodes[q]);
  evaluate_at_nodes(recipe, dual, x, y);

  std::vector<double> a(series_nodes, 0.0);
  for (std::size_t q = 0; q < x.size(); ++q) {
    const auto weighted = static_cast<double>(b.roots[q]) * y[q];
    const double* row = b.rows.data() + q * series_nodes;
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += weighted * row[k];
  }

  HermiteSeries series;
  series.coefficients.assign(a.begin(), a.begin() + series_terms);
  long double kept = 0;
  long double kept_dot = 0;
  long double lost = 0;
  long double lost_dot = 0;
  for (int k = 0; k < series_nodes; ++k) {
    const long double square =
        static_cast<long double>(a[static_cast<std::size_t>(k)]) * a[static_cast<std::size_t>(k)];
    (k < series_terms ? kept : lost) += square;
    (k < series_terms ? kept_dot : lost_dot) += static_cast<long double>(k) * square;
  }
  if (kept > 0) series.truncation = static_cast<double>(lost / kept);
  if (kept_dot > 0) series.truncation = std::max(series.truncation, static_cast<double>(lost_dot / kept_dot));
  return series;
}

}  // namespace

bool has_series(Phi phi) { return phi == Phi::monomial || phi == Phi::polynomial || phi > Phi::identity; }

int series_length(const Dual& dual) {
  if (dual.phi == Phi::monomial) return dual.degree + 1;
  return dual.phi == Phi::polynomial ? dual.count : series_terms;
}

HermiteSeries hermite_series(const Recipe& recipe, const Dual& dual, long double deviation) {
  if (dual.phi == Phi::monomial) {
    std::vector<double> coef(static_cast<std::size_t>(dual.degree) + 1, 0.0);
    coef.back() = 1;
    return polynomial_series(coef, deviation);
  }
  if (dual.phi == Phi::polynomial) {
    return polynomial_series({recipe.constants.data() + dual.first, static_cast<std::size_t>(dual.count)}, deviation);
  }
  return quadrature_series(recipe, dual, deviation);
}

}  // namespace widelimit::cpu
