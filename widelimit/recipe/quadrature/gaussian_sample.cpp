#include "widelimit/recipe/quadrature/gaussian_sample.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/recipe/quadrature/gauss_rules.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

constexpr std::size_t panel_order = 16;
/// Initial and maximal extent of the rule, in deviations. |h_k(z)|·e^{−z²/4} is below 1 for all k, so at 12.5 the tail
/// of a bounded φ is of order e^{−39}.
constexpr double first_reach = 12.5;
constexpr double last_reach = 37.5;

const GaussLegendre& panel_rule() {
  static const GaussLegendre rule = gauss_legendre(static_cast<int>(panel_order));
  return rule;
}

double density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

/// Boundaries of panels on [0, reach]: multiples of `length`, and |x|/s for every boundary x of a piece.
std::vector<double> panel_ends(const Pieces& pieces, double deviation, double reach, double length) {
  std::vector<double> ends;
  for (double z = 0; z < reach; z += length) ends.push_back(z);
  ends.push_back(reach);
  for (const Piece& piece : pieces.list) {
    const double z = std::abs(piece.left) / deviation;
    if (z < reach) ends.push_back(z);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end(), [](double a, double b) { return b - a < 1e-15; }), ends.end());
  return ends;
}

void put_nodes(const std::vector<double>& ends, GaussianSample& sample) {
  const GaussLegendre& rule = panel_rule();
  for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
    const double half = (ends[k + 1] - ends[k]) / 2;
    for (std::size_t q = 0; q < rule.nodes.size(); ++q) {
      const double z = ends[k] + half * (1 + rule.nodes[q]);
      sample.z.push_back(z);
      sample.panel.push_back(half * rule.weights[q]);
      sample.weight.push_back(half * rule.weights[q] * density(z));
    }
  }
}

enum class Source : std::uint8_t { function, pieces };

/// Evaluates φ and φ' at all nodes, with one call each.
void evaluate_at_nodes(const Pointwise& phi, Source source, GaussianSample& sample) {
  const std::size_t count = sample.z.size();
  std::vector<double> x(2 * count);
  for (std::size_t q = 0; q < count; ++q) {
    x[q] = sample.deviation * sample.z[q];
    x[count + q] = -x[q];
  }
  std::vector<double> values(2 * count);
  std::vector<double> slopes(2 * count);
  if (source == Source::function) {
    phi.value(x, values);
    phi.slope(*sample.pieces, x, slopes);
  } else {
    for (std::size_t q = 0; q < x.size(); q += panel_order) {  // a panel lies within one piece
      sample.pieces->around(x[q]).at(std::span(x).subspan(q, panel_order), values.data() + q, slopes.data() + q);
    }
  }
  const auto halves = [count](const std::vector<double>& y, std::vector<double>& above, std::vector<double>& below) {
    const auto middle = y.begin() + static_cast<std::ptrdiff_t>(count);
    above.assign(y.begin(), middle);
    below.assign(middle, y.end());
  };
  halves(values, sample.above, sample.below);
  halves(slopes, sample.slope_above, sample.slope_below);
}

/// Σ_q weight_q (f² + g²), and the ratio of Σ_q weight_q (z_q² − 1)(f² + g²) to it.
struct SquareMoments {
  long double square = 0;
  double growth = 0.0;
};
SquareMoments square_moments(const GaussianSample& sample, const std::vector<double>& above,
                             const std::vector<double>& below) {
  long double square = 0;
  long double weighted = 0;
  for (std::size_t q = 0; q < sample.z.size(); ++q) {
    const auto term = static_cast<long double>(sample.weight[q]) *
                      (static_cast<long double>(above[q]) * above[q] + static_cast<long double>(below[q]) * below[q]);
    square += term;
    weighted += term * (static_cast<long double>(sample.z[q]) * sample.z[q] - 1);
  }
  return {square, square > 0 ? static_cast<double>(std::abs(weighted / square)) : 0.0};
}

/// E[(uφ')²]/E[φ²] − (E[uφ'φ]/E[φ²])².
double stretch_of(const GaussianSample& sample) {
  long double moved = 0;
  long double along = 0;
  for (std::size_t q = 0; q < sample.z.size(); ++q) {
    const auto u = static_cast<long double>(sample.deviation) * sample.z[q];
    const auto weight = static_cast<long double>(sample.weight[q]);
    const long double above = u * sample.slope_above[q];
    const long double below = -u * sample.slope_below[q];
    moved += weight * (above * above + below * below);
    along += weight * (above * sample.above[q] + below * sample.below[q]);
  }
  if (!(sample.square > 0)) return 0;
  const long double share = along / sample.square;
  return static_cast<double>(std::max(0.0L, moved / sample.square - share * share));
}

/// Sets the probability-weighted errors of the pieces; each panel lies within one piece.
void set_errors(GaussianSample& sample) {
  double square = 0;
  double slope_square = 0;
  for (std::size_t first = 0; first < sample.z.size(); first += panel_order) {
    double probability = 0;
    for (std::size_t q = first; q < first + panel_order; ++q) probability += sample.weight[q];
    const double x = sample.deviation * sample.z[first];
    for (const Piece* piece : {&sample.pieces->around(x), &sample.pieces->around(-x)}) {
      square += probability * piece->error * piece->error;
      slope_square += probability * piece->slope_error * piece->slope_error;
    }
  }
  const auto relative = [](double error, long double of) {
    return of > 0 ? std::sqrt(error / static_cast<double>(of)) : 0.0;
  };
  sample.error = relative(square, sample.square);
  sample.slope_error = relative(slope_square, sample.slope_square);
}

GaussianSample sample_up_to(const Pointwise& phi, double deviation, double reach, double panel, Source source) {
  GaussianSample sample;
  sample.deviation = deviation;
  sample.pieces = phi.pieces(deviation * reach);
  put_nodes(panel_ends(*sample.pieces, deviation, reach, panel), sample);
  evaluate_at_nodes(phi, source, sample);
  const SquareMoments value = square_moments(sample, sample.above, sample.below);
  const SquareMoments slope = square_moments(sample, sample.slope_above, sample.slope_below);
  sample.square = value.square;
  sample.growth = value.growth;
  sample.slope_square = slope.square;
  sample.slope_growth = slope.growth;
  sample.stretch = stretch_of(sample);
  set_errors(sample);
  return sample;
}

/// Whether the contribution beyond the last node is negligible, for φ² and for products of φ with Hermite functions.
bool ends_in_time(const GaussianSample& sample) {
  const double z = sample.z.back();
  const double decay = std::exp(-z * z / 4);
  const double largest = std::max(std::abs(sample.above.back()), std::abs(sample.below.back()));
  return largest * decay <= 1e-15 * std::sqrt(static_cast<double>(sample.square));
}

GaussianSample sample_from(const Pointwise& phi, double deviation, double panel, Source source) {
  for (double reach = first_reach; reach <= last_reach && std::isfinite(2 * reach * deviation); reach += 5) {
    GaussianSample sample = sample_up_to(phi, deviation, reach, panel, source);
    if (ends_in_time(sample)) return sample;
  }
  fail(Code::numerical,
       "activation {} grows too fast: its square has no mean over pre-activations of deviation {:.3g}; scale the data "
       "or use smaller w_std",
       phi.name(), deviation);
}

}  // namespace

GaussianSample sample_gaussian(const Pointwise& phi, double deviation, double panel) {
  return sample_from(phi, deviation, panel, Source::function);
}

GaussianSample sample_pieces(const Pointwise& phi, double deviation) {
  return sample_from(phi, deviation, 1.0, Source::pieces);
}

}  // namespace widelimit
