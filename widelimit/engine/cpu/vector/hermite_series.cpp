#include "widelimit/engine/cpu/vector/hermite_series.hpp"

#include "widelimit/engine/cpu/vector/hermite_sums.hpp"
#include "widelimit/recipe/quadrature/gaussian_sample.hpp"
#include "widelimit/recipe/quadrature/logistic_mixture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace widelimit::cpu {

namespace {

/// Terms are computed in blocks of block_terms; a series ends after two consecutive blocks at rounding level, i.e. the
/// root of their squares is at most series_rounding times the root of E[φ²].
constexpr int block_terms = 16;
constexpr double series_rounding = 0x1p-52;

/// xⁱ = Σ_k c_ik h_k(x), c_ik = i!/(2^m·m!·√k!), m = (i−k)/2, for k ≤ i of the same parity.
long double monomial_coefficient(int i, int k) {
  const auto m = static_cast<long double>(i - k) / 2;
  return std::exp(std::lgamma(static_cast<long double>(i) + 1) - m * std::log(2.0L) - std::lgamma(m + 1) -
                  std::lgamma(static_cast<long double>(k) + 1) / 2);
}

HermiteSeries polynomial_series(std::span<const double> coef, long double s) {
  const auto count = static_cast<int>(coef.size());
  std::vector<long double> a(coef.size(), 0);
  for (int i = 0; i < count; ++i) {
    const long double scaled = static_cast<long double>(coef[static_cast<std::size_t>(i)]) * std::pow(s, i);
    for (int k = i % 2; k <= i; k += 2) a[static_cast<std::size_t>(k)] += scaled * monomial_coefficient(i, k);
  }
  HermiteSeries series;
  series.sufficient_terms = series.maximal_terms = count;
  for (std::size_t k = 0; k < a.size(); ++k) {
    series.square += a[k] * a[k];
    series.slope_square += static_cast<long double>(k) * a[k] * a[k];
  }
  if (s > 0) series.slope_square /= s * s;
  const long double norm = series.square > 0 ? 1 / std::sqrt(series.square) : 0;
  for (const long double c : a) series.coefficients.push_back(static_cast<double>(c * norm));
  return series;
}

/// √density(z)·(panel weight)·f at nodes padded to whole vectors, split into even and odd parts.
struct WeightedHalves {
  std::vector<double> even, odd;

  WeightedHalves(const GaussianSample& sample, const std::vector<double>& root, const std::vector<double>& above,
                 const std::vector<double>& below)
      : even(root.size(), 0.0), odd(root.size(), 0.0) {
    for (std::size_t q = 0; q < sample.z.size(); ++q) {
      even[q] = sample.panel[q] * root[q] * (above[q] + below[q]);
      odd[q] = sample.panel[q] * root[q] * (above[q] - below[q]);
    }
  }
  [[nodiscard]] HermiteNodes nodes(const std::vector<double>& z) const {
    return {static_cast<Index>(z.size()), z.data(), even.data(), odd.data()};
  }
};

/// The requested terms of one place, and block sums of their squares.
struct Terms {
  std::vector<double> a, b;               ///< a_k, and b_k if φ' has its own series
  std::vector<long double> value, slope;  ///< Σa_k², and Σk·a_k²/s² or Σb_k²
  bool ended = false;                     ///< the last blocks are at rounding level and set to 0
};

class TermFinder {
 public:
  TermFinder(const GaussianSample& sample, bool own_slopes)
      : sample_(sample), own_slopes_(own_slopes), z_(sample.z), variance_(sample.deviation * sample.deviation) {
    z_.resize((z_.size() + 15) / 16 * 16, 0.0);
    root_.assign(z_.size(), 0.0);
    next_.assign(z_.size(), 0.0);
    for (std::size_t q = 0; q < sample.z.size(); ++q) {
      root_[q] = std::exp(-z_[q] * z_[q] / 4) / std::pow(2 * std::numbers::pi, 0.25);
      next_[q] = z_[q] * root_[q];
    }
  }

  Terms find(int most) {
    const WeightedHalves value(sample_, root_, sample_.above, sample_.below);
    const WeightedHalves slope =
        own_slopes_ ? WeightedHalves(sample_, root_, sample_.slope_above, sample_.slope_below) : value;
    const HermiteNodes slope_nodes = own_slopes_ ? slope.nodes(z_) : HermiteNodes{};
    HermiteState state{0, root_.data(), next_.data()};
    Terms terms;
    terms.a.assign(static_cast<std::size_t>(most), 0.0);
    terms.b.assign(own_slopes_ ? terms.a.size() : 0, 0.0);
    int silent = 0;
    for (int first = 0; first < most && silent < 2; first += block_terms) {
      hermite_sums(value.nodes(z_), slope_nodes, block_terms, state, terms.a.data() + first,
                   own_slopes_ ? terms.b.data() + first : nullptr);
      add_block(first, terms);
      silent = is_rounding(first, terms) ? silent + 1 : 0;
    }
    terms.ended = silent == 2;
    if (terms.ended) {
      const auto end = static_cast<std::ptrdiff_t>((terms.value.size() - 2) * block_terms);
      std::fill(terms.a.begin() + end, terms.a.end(), 0.0);
      if (own_slopes_) std::fill(terms.b.begin() + end, terms.b.end(), 0.0);
    }
    return terms;
  }

 private:
  void add_block(int first, Terms& terms) const {
    long double squares = 0;
    long double slopes = 0;
    for (int k = first; k < first + block_terms; ++k) {
      const auto at = static_cast<std::size_t>(k);
      squares += static_cast<long double>(terms.a[at]) * terms.a[at];
      slopes += own_slopes_ ? static_cast<long double>(terms.b[at]) * terms.b[at]
                            : static_cast<long double>(k) * terms.a[at] * terms.a[at] / variance_;
    }
    terms.value.push_back(squares);
    terms.slope.push_back(slopes);
  }

  /// Rounding errors of a_k are amplified k-fold in Σk·a_k².
  [[nodiscard]] bool is_rounding(int first, const Terms& terms) const {
    const auto unit = static_cast<long double>(series_rounding * series_rounding);
    const long double slope_rounding =
        own_slopes_ ? unit * sample_.slope_square
                    : unit * sample_.square * static_cast<long double>(first + block_terms) / variance_;
    return terms.value.back() <= unit * sample_.square && terms.slope.back() <= slope_rounding;
  }

  const GaussianSample& sample_;
  bool own_slopes_;
  std::vector<double> z_, root_, next_;
  long double variance_;
};

/// Relative remainder beyond the blocks: the difference if it exceeds the rounding error of the sums, otherwise a
/// geometric extrapolation of the last two blocks.
double rest_beyond(const std::vector<long double>& blocks, bool ended, long double whole) {
  if (!(whole > 0) || ended) return 0;
  long double sum = 0;
  for (const long double block : blocks) sum += block;
  const long double last = blocks.back();
  const long double ratio = last > 0 ? std::min(0.9L, last / std::max(last, blocks[blocks.size() - 2])) : 0;
  const long double missing = (whole - sum) / whole;
  const long double going_on = last * ratio / (1 - ratio) / whole;
  return static_cast<double>(missing > 1e-14L ? missing : std::min(going_on, 1e-14L));
}

/// Share of the blocks from most_terms on.
double share_after_most(const std::vector<long double>& blocks, long double whole) {
  long double sum = 0;
  for (std::size_t k = most_terms / block_terms; k < blocks.size(); ++k) sum += blocks[k];
  return whole > 0 ? static_cast<double>(sum / whole) : 0.0;
}

/// Returns the smallest number of terms whose relative remainders are both below `limit`.
int count_terms(const Terms& terms, const GaussianSample& sample, double beyond, double slope_beyond, double limit) {
  const auto whole = static_cast<double>(sample.square);
  const auto slope_whole = static_cast<double>(sample.slope_square);
  const double over_variance = 1 / (sample.deviation * sample.deviation);
  double left = beyond;
  double slope_left = slope_beyond;
  auto k = terms.a.size();
  for (; k > 1; --k) {
    const double a = terms.a[k - 1];
    left += a * a / whole;
    if (slope_whole > 0) {
      const double slope =
          terms.b.empty() ? static_cast<double>(k - 1) * over_variance * a * a : terms.b[k - 1] * terms.b[k - 1];
      slope_left += slope / slope_whole;
    }
    if (!(left <= limit && slope_left <= limit)) break;
  }
  return static_cast<int>(k);
}

/// Series of φ(0) for deviation 0.
HermiteSeries constant_series(const Pointwise& phi, bool own_slopes) {
  const double x = 0;
  double y = 0;
  phi.value({&x, 1}, {&y, 1});
  HermiteSeries series;
  series.square = static_cast<long double>(y) * y;
  series.coefficients = {y > 0 ? 1.0 : (y < 0 ? -1.0 : 0.0)};
  if (own_slopes) series.slopes = {0.0};
  series.sufficient_terms = series.maximal_terms = 1;
  return series;
}

/// Moments of φ from the integral, without terms.
HermiteSeries moments_of(const GaussianSample& sample, bool own_slopes) {
  HermiteSeries series;
  series.square = sample.square;
  series.slope_square = sample.slope_square;
  series.stretch = sample.stretch;
  series.error = sample.error;
  series.slope_error = sample.slope_error;
  series.growth = sample.growth;
  series.slope_growth = sample.slope_growth;
  series.coefficients = {0.0};
  if (own_slopes) series.slopes = {0.0};
  series.sufficient_terms = series.maximal_terms = 1;
  return series;
}

HermiteSeries series_of(const GaussianSample& sample, bool own_slopes, int most, double tolerance) {
  HermiteSeries series = moments_of(sample, own_slopes);
  if (!(sample.square > 0)) return series;
  Terms terms = TermFinder(sample, own_slopes).find(most);
  const double beyond = rest_beyond(terms.value, terms.ended, sample.square);
  const double slope_beyond = rest_beyond(terms.slope, terms.ended, sample.slope_square);
  series.sufficient_terms = count_terms(terms, sample, beyond, slope_beyond, tolerance);
  series.maximal_terms = count_terms(terms, sample, beyond, slope_beyond, tolerance * tolerance);
  if (beyond > tolerance * tolerance || slope_beyond > tolerance * tolerance) {
    series.rest = std::sqrt(beyond + share_after_most(terms.value, sample.square));
    series.slope_rest = std::sqrt(slope_beyond + share_after_most(terms.slope, sample.slope_square));
    if (most == most_own_terms) series.long_rest = std::sqrt(beyond), series.long_slope_rest = std::sqrt(slope_beyond);
  }
  terms.a.resize(static_cast<std::size_t>(series.maximal_terms));
  if (own_slopes) terms.b.resize(terms.a.size());
  // If the terms contain all of φ, normalise their squares to sum 1, so that the series is 1 at ρ = 1.
  long double sum = 0;
  for (const double c : terms.a) sum += static_cast<long double>(c) * c;
  const auto norm = static_cast<double>(1 / std::sqrt(series.rest > 0 ? sample.square : sum));
  for (double& c : terms.a) c *= norm;
  for (double& c : terms.b) c *= norm * sample.deviation;
  series.coefficients = std::move(terms.a);
  series.slopes = std::move(terms.b);
  return series;
}

HermiteSeries quadrature_series(const Pointwise& phi, bool logistic, bool own_slopes, double deviation,
                                double tolerance) {
  if (!(deviation > 0)) return constant_series(phi, own_slopes);
  HermiteSeries series = series_of(sample_gaussian(phi, deviation), own_slopes, most_terms, tolerance);
  const double least = std::sqrt(tolerance);
  if (logistic || (series.rest <= least && series.slope_rest <= least)) return series;
  return series_of(sample_gaussian(phi, deviation, 0.25), own_slopes, most_own_terms, tolerance);
}

}  // namespace

bool has_series(Phi phi) { return phi == Phi::monomial || phi == Phi::polynomial || phi > Phi::identity; }

int series_length(const Dual& dual) {
  if (dual.phi == Phi::monomial) return dual.degree + 1;
  if (dual.phi == Phi::polynomial) return dual.count;
  return is_logistic(dual.phi) ? most_terms : most_own_terms;
}

bool has_slope_series(const Dual& dual) { return dual.phi == Phi::custom; }

HermiteSeries hermite_series(const Recipe& recipe, const Dual& dual, long double deviation, double tolerance) {
  if (dual.phi == Phi::monomial) {
    std::vector<double> coef(static_cast<std::size_t>(dual.degree) + 1, 0.0);
    coef.back() = 1;
    return polynomial_series(coef, deviation);
  }
  if (dual.phi == Phi::polynomial) {
    return polynomial_series({recipe.constants.data() + dual.first, static_cast<std::size_t>(dual.count)}, deviation);
  }
  return quadrature_series(*recipe.functions[static_cast<std::size_t>(dual.function)], is_logistic(dual.phi),
                           has_slope_series(dual), static_cast<double>(deviation), tolerance);
}

}  // namespace widelimit::cpu
