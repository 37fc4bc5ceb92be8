#include "widelimit/recipe/quadrature/pieces.hpp"

#include "widelimit/recipe/quadrature/edges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace widelimit {

namespace {

constexpr std::size_t fitted = Piece::terms;
/// Check points between the Chebyshev nodes, as fractions of the interval: multiples of the golden ratio modulo 1, and
/// both ends up to a few roundings, so that a jump between an end and the first node is detected.
constexpr std::array<double, 10> checks{0.618034, 0.236068, 0.854102, 0.472136, 0.090170,
                                        0.708204, 0.326238, 0.944272, 0.0,      1.0};
constexpr std::size_t points = fitted + checks.size();

constexpr double rounding = std::numeric_limits<double>::epsilon();
/// Coefficients below this level, relative to φ, are rounding errors.
constexpr double resolved_level = 4 * rounding;
/// Below this level, a tail that three bisections do not reduce is treated as noise of φ.
constexpr double noise_level = 1e-12;
/// Minimal length of an interval relative to its location.
constexpr double shortest = 0x1p-44;
constexpr std::size_t most_pieces = 4000;

struct Cosines {
  std::array<double, fitted> nodes{};                          ///< Chebyshev points of the first kind in (−1, 1)
  std::array<std::array<double, fitted>, fitted> transform{};  ///< coefficients from values
};

const Cosines& cosines() {
  static const Cosines table = [] {
    Cosines result;
    const auto n = static_cast<double>(fitted);
    for (std::size_t i = 0; i < fitted; ++i) {
      const double angle = std::numbers::pi * (static_cast<double>(i) + 0.5) / n;
      result.nodes[i] = std::cos(angle);
      for (std::size_t k = 0; k < fitted; ++k) {
        result.transform[k][i] = (k == 0 ? 1 : 2) / n * std::cos(static_cast<double>(k) * angle);
      }
    }
    return result;
  }();
  return table;
}

using Series = std::array<double, fitted>;

/// Clenshaw's recursion at y in [−1, 1].
double sum_series(const Series& series, double y) {
  double next = 0;
  double after = 0;
  for (std::size_t k = fitted; k-- > 1;) {
    const double current = 2 * y * next - after + series[k];
    after = next;
    next = current;
  }
  return y * next - after + series[0];
}

Series fit_series(const double* values) {
  Series series{};
  for (std::size_t k = 0; k < fitted; ++k) {
    for (std::size_t i = 0; i < fitted; ++i) series[k] += cosines().transform[k][i] * values[i];
  }
  return series;
}

/// Sets trailing coefficients below `noise` to 0; returns the number of remaining terms.
std::size_t chop(Series& series, double noise) {
  std::size_t terms = fitted;
  while (terms > 1 && std::abs(series[terms - 1]) <= noise) series[--terms] = 0;
  return terms;
}

/// Derivative of a series: c'_{k−1} = c'_{k+1} + 2k·c_k, and the chain rule for an interval of length `width`.
Series differentiate(const Series& series, double width) {
  Series slope{};
  for (std::size_t k = fitted - 1; k >= 1; --k) {
    slope[k - 1] = (k + 1 < fitted ? slope[k + 1] : 0) + 2 * static_cast<double>(k) * series[k] * 2 / width;
  }
  slope[0] /= 2;
  return slope;
}

double largest_of(const Series& series) {
  double largest = 0;
  for (const double c : series) largest = std::max(largest, std::abs(c));
  return largest;
}
/// Magnitude of the last coefficients of a series.
double tail_of(const Series& series) {
  return std::max({std::abs(series[fitted - 1]), std::abs(series[fitted - 2]), std::abs(series[fitted - 3])});
}

struct Scales {
  double value = 0.0;
  double slope = 0.0;
};

/// An interval to be resolved.
struct Interval {
  double left = 0.0;
  double right = 0.0;
  std::array<double, 3> tails{HUGE_VAL, HUGE_VAL, HUGE_VAL};  ///< tails of its ancestors, the latest first
};

struct FittedPiece {
  Piece piece;
  double tail = 0.0;
  bool resolved = false;
};

class PieceFitter {
 public:
  PieceFitter(const Differentiable& function, double reach) : function_(function), reach_(reach) {
    constexpr std::size_t samples = 64;
    std::vector<double> x(samples);
    for (std::size_t i = 0; i < samples; ++i) {
      x[i] = reach / 4 * (2 * static_cast<double>(i) + 1 - static_cast<double>(samples)) / static_cast<double>(samples);
    }
    for (const double y : call(function_.value, x)) scales_.value = std::max(scales_.value, std::abs(y));
    scales_.slope = scales_.value / reach;
    if (!function_.slope) return;
    for (const double y : call(function_.slope, x)) scales_.slope = std::max(scales_.slope, std::abs(y));
  }

  /// Returns the pieces between the given boundaries, from left to right.
  [[nodiscard]] std::vector<Piece> between(const std::vector<double>& ends) const {
    std::vector<Interval> pending;
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) pending.push_back({ends[k], ends[k + 1]});
    std::vector<Piece> pieces;
    while (!pending.empty()) {
      const std::vector<FittedPiece> fitted_pieces = fit_pieces(pending);
      const bool last = pieces.size() + 2 * pending.size() > most_pieces;
      std::vector<Interval> halves;
      for (std::size_t k = 0; k < pending.size(); ++k) {
        const FittedPiece& result = fitted_pieces[k];
        const auto& [left, right, tails] = pending[k];
        if (result.resolved || last || is_shorter(result.piece, shortest)) {
          pieces.push_back(result.piece);
        } else {
          const double middle = left + (right - left) / 2;
          halves.push_back({left, middle, {result.tail, tails[0], tails[1]}});
          halves.push_back({middle, right, {result.tail, tails[0], tails[1]}});
        }
      }
      pending = std::move(halves);
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.left < b.left; });
    return pieces;
  }

  /// Fits one series, without checking its accuracy.
  [[nodiscard]] Piece fit(double left, double right) const {
    return fit_pieces({Interval{left, right, {}}}).front().piece;
  }

  [[nodiscard]] const Scales& scales() const { return scales_; }

 private:
  [[nodiscard]] bool is_shorter(const Piece& piece, double than) const {
    return piece.right - piece.left <= than * std::max({std::abs(piece.left), std::abs(piece.right), 0x1p-10 * reach_});
  }

  static std::vector<double> call(const Function& function, const std::vector<double>& x) {
    std::vector<double> y(x.size());
    function(x, y);
    return y;
  }

  /// Fits all intervals with one call of φ.
  std::vector<FittedPiece> fit_pieces(const std::vector<Interval>& intervals) const {
    std::vector<double> x;
    x.reserve(points * intervals.size());
    for (const auto& [left, right, tails] : intervals) {
      for (const double node : cosines().nodes) x.push_back(left + (right - left) * (node + 1) / 2);
      const double margin =
          std::max(0x1p-40 * (right - left), 4 * rounding * std::max(std::abs(left), std::abs(right)));
      for (const double fraction : checks) {
        x.push_back(std::clamp(left + (right - left) * fraction, left + margin, right - margin));
      }
    }
    const std::vector<double> y = call(function_.value, x);
    const std::vector<double> slopes = function_.slope ? call(function_.slope, x) : std::vector<double>{};
    std::vector<FittedPiece> fitted_pieces;
    for (std::size_t k = 0; k < intervals.size(); ++k) {
      const std::size_t first = k * points;
      const double* slopes_here = slopes.empty() ? nullptr : slopes.data() + first;
      fitted_pieces.push_back(fit_piece(intervals[k], x.data() + first, y.data() + first, slopes_here));
    }
    return fitted_pieces;
  }

  /// Largest differences of a series and φ at the check points: between the nodes, and at the ends.
  struct Discrepancy {
    double inside = 0.0;
    double at_ends = 0.0;
    [[nodiscard]] double largest() const { return std::max(inside, at_ends); }
  };
  static Discrepancy discrepancy(const Series& series, const Interval& interval, const double* x,
                                 const double* values) {
    Discrepancy result;
    for (std::size_t i = fitted; i < points; ++i) {
      const double y = (2 * x[i] - interval.left - interval.right) / (interval.right - interval.left);
      double& largest = i + 2 < points ? result.inside : result.at_ends;
      largest = std::max(largest, std::abs(sum_series(series, y) - values[i]));
    }
    return result;
  }

  [[nodiscard]] FittedPiece fit_piece(const Interval& interval, const double* x, const double* values,
                                      const double* slopes) const {
    const double width = interval.right - interval.left;
    FittedPiece result;
    Piece& piece = result.piece;
    piece = {interval.left, interval.right, fit_series(values), {}, 0.0, 0.0};
    const double place = std::max(std::abs(interval.left), std::abs(interval.right));
    // Scale of φ, or of a linear function with the mean slope at this location: cancelling terms leave rounding errors
    // of their own magnitude.
    const double scale = std::max(4 * scales_.value * place / reach_, largest_of(piece.value));
    result.tail = tail_of(piece.value);
    const auto terms = static_cast<double>(chop(piece.value, rounding / 4 * largest_of(piece.value)));
    piece.slope = slopes != nullptr ? fit_series(slopes) : differentiate(piece.value, width);
    const double slope_scale = std::max(scales_.slope, largest_of(piece.slope));
    const Discrepancy apart = discrepancy(piece.value, interval, x, values);
    piece.error = std::max(result.tail, apart.largest());
    double slope_limit = resolved_level * slope_scale;
    if (slopes != nullptr) {
      piece.slope_error = std::max(tail_of(piece.slope), discrepancy(piece.slope, interval, x, slopes).largest());
    } else {
      // A rounding error of φ is amplified by terms²·2/width in φ'; in practice rarely by more than a quarter of that.
      const double amplified = rounding * scale * static_cast<double>(fitted * fitted) / (2 * width);
      slope_limit = std::max(1e-13 * slope_scale, amplified);
      piece.slope_error = result.tail * static_cast<double>(fitted * fitted) / width;
    }
    const bool settled = result.tail <= resolved_level * scale && apart.largest() <= 16 * resolved_level * scale;
    const bool slope_settled = piece.slope_error <= 16 * slope_limit;
    // Rounding errors of the coefficients, amplified by √(Σk⁴)·2/width at the ends of the piece.
    if (slopes == nullptr && settled) piece.slope_error = terms * terms * rounding * scale / width;
    if (slopes == nullptr && largest_of(piece.slope) <= piece.slope_error) piece.slope.fill(0);
    // A kink causes errors of φ' that do not decrease with the interval; a kink near an end causes errors at the end.
    const bool noise = piece.error <= noise_level * std::max(scale, scales_.value) &&
                       result.tail > 0.5 * interval.tails[2] && piece.slope_error <= 1e-3 * slope_scale &&
                       apart.at_ends <= 16 * std::max(result.tail, apart.inside);
    result.resolved = (settled && slope_settled) || noise;
    return result;
  }

  const Differentiable& function_;
  double reach_;
  Scales scales_;
};

/// Initial boundaries: 0 and powers of two from ½ on, both signs, up to the reach.
std::vector<double> first_ends(double reach) {
  std::vector<double> ends{-reach};
  std::vector<double> positive;
  for (double end = 0.5; end < reach; end *= 2) positive.push_back(end);
  for (auto end = positive.rbegin(); end != positive.rend(); ++end) ends.push_back(-*end);
  ends.push_back(0);
  ends.insert(ends.end(), positive.begin(), positive.end());
  ends.push_back(reach);
  return ends;
}

/// Distance from one of these locations to the nearest other one, at most 2⁻⁵ of its magnitude.
double distance_to_next(const std::vector<double>& places, double place) {
  double least = 0x1p-5 * std::abs(place);
  for (const double other : places) {
    if (other != place) least = std::min(least, std::abs(other - place));
  }
  return least;
}

std::vector<double> merged(std::vector<double> ends, const std::vector<double>& more) {
  ends.insert(ends.end(), more.begin(), more.end());
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace

ValueAndSlope Piece::at(double x) const {
  const double y = (2 * x - left - right) / (right - left);
  return {sum_series(value, y), sum_series(slope, y)};
}

void Piece::at(std::span<const double> x, double* values, double* slopes) const {
  constexpr std::size_t width = 8;  // points whose recursions are vectorised together
  const double scale = 2 / (right - left);
  for (std::size_t first = 0; first < x.size(); first += width) {
    const std::size_t count = std::min(width, x.size() - first);
    std::array<double, width> y{};
    for (std::size_t i = 0; i < count; ++i) y[i] = (x[first + i] - left) * scale - 1;
    for (const auto& [series, to] : {std::pair(&value, values), std::pair(&slope, slopes)}) {
      std::array<double, width> next{};
      std::array<double, width> after{};
      for (std::size_t k = fitted; k-- > 1;) {
        for (std::size_t i = 0; i < width; ++i) {
          const double current = 2 * y[i] * next[i] - after[i] + (*series)[k];
          after[i] = next[i];
          next[i] = current;
        }
      }
      for (std::size_t i = 0; i < count; ++i) to[first + i] = y[i] * next[i] - after[i] + (*series)[0];
    }
  }
}

const Piece& Pieces::around(double x) const {
  const auto next =
      std::upper_bound(list.begin() + 1, list.end(), x, [](double at, const Piece& piece) { return at < piece.left; });
  return *(next - 1);
}

Pieces cut_into_pieces(const Differentiable& function, double reach) {
  const PieceFitter fitter(function, reach);
  const std::vector<double> ends = first_ends(reach);
  Pieces result{fitter.between(ends), {}, reach};
  const std::vector<EdgeEstimate> estimates = estimate_edges(result);
  if (!estimates.empty()) {
    const auto fit = [&](double left, double right) { return fitter.fit(left, right); };
    std::vector<double> places = ends;
    for (const EdgeEstimate& edge : estimates) places.push_back(edge.place);
    std::vector<double> located;
    for (const EdgeEstimate& edge : estimates) {
      const double length = 0.25 * distance_to_next(places, edge.place);
      if (length > 16 * edge.margin) located.push_back(locate_edge(edge, length, fit, function.value));
    }
    result.list = fitter.between(merged(ends, located));
  }
  result.edges = confirm_edges(result, fitter.scales().value);
  // With known edges, pieces need not be short.
  if (!result.edges.empty()) result.list = fitter.between(merged(ends, result.edges));
  return result;
}

}  // namespace widelimit
