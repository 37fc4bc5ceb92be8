#include "widelimit/recipe/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace widelimit {

namespace {

constexpr std::size_t fitted = Piece::terms;
/// Points between the Chebyshev nodes where a series must agree with φ, as fractions of the interval: multiples of the
/// golden ratio, modulo 1.
constexpr std::array<double, 8> checks{0.618034, 0.236068, 0.854102, 0.472136, 0.090170, 0.708204, 0.326238, 0.944272};
constexpr std::size_t points = fitted + checks.size();

constexpr double rounding = std::numeric_limits<double>::epsilon();
/// Coefficients of this size, relative to φ, are rounding.
constexpr double resolved_level = 4 * rounding;
/// Below this a tail that halving thrice leaves alone is taken for noise of φ.
constexpr double noise_level = 1e-12;
/// Length, relative to its place, of an interval that is not halved any more, and of one that only a jump or a kink
/// nearby can have made so short.
constexpr double shortest = 0x1p-44;
constexpr double suspect = 0x1p-30;
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

/// c'_{k−1} = c'_{k+1} + 2k·c_k, and the chain rule for an interval of length `width`.
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
/// What is left of a series at its end.
double tail_of(const Series& series) {
  return std::max({std::abs(series[fitted - 1]), std::abs(series[fitted - 2]), std::abs(series[fitted - 3])});
}

struct Scales {
  double value = 0.0;
  double slope = 0.0;
};

/// One interval under way.
struct Interval {
  double left = 0.0;
  double right = 0.0;
  std::array<double, 3> tails{HUGE_VAL, HUGE_VAL, HUGE_VAL};  ///< of the intervals it was halved from, the last first
};

struct Verdict {
  Piece piece;
  double tail = 0.0;
  bool resolved = false;
};

class Cutter {
 public:
  Cutter(const Differentiable& function, double reach) : function_(function), reach_(reach) {
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

  /// Pieces between the given ends, from left to right.
  [[nodiscard]] std::vector<Piece> between(const std::vector<double>& ends) const {
    std::vector<Interval> pending;
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) pending.push_back({ends[k], ends[k + 1]});
    std::vector<Piece> pieces;
    while (!pending.empty()) {
      const std::vector<Verdict> verdicts = judge(pending);
      const bool last = pieces.size() + 2 * pending.size() > most_pieces;
      std::vector<Interval> halves;
      for (std::size_t k = 0; k < pending.size(); ++k) {
        const Verdict& verdict = verdicts[k];
        const auto& [left, right, tails] = pending[k];
        if (verdict.resolved || last || is_shorter(verdict.piece, shortest)) {
          pieces.push_back(verdict.piece);
        } else {
          const double middle = left + (right - left) / 2;
          halves.push_back({left, middle, {verdict.tail, tails[0], tails[1]}});
          halves.push_back({middle, right, {verdict.tail, tails[0], tails[1]}});
        }
      }
      pending = std::move(halves);
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.left < b.left; });
    return pieces;
  }

  /// Jumps and kinks: of each run of suspiciously short pieces the shortest, unless the run touches an end that is
  /// known.
  [[nodiscard]] std::vector<double> singular_points(const std::vector<Piece>& pieces,
                                                    const std::vector<double>& ends) const {
    std::vector<double> found;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      if (!is_shorter(pieces[k], suspect)) continue;
      const std::size_t first = k;
      std::size_t least = k;
      for (; k < pieces.size() && is_shorter(pieces[k], suspect); ++k) {
        const double shorter = (pieces[least].right - pieces[least].left) / (pieces[k].right - pieces[k].left);
        if (shorter > 1.5 || (shorter > 0.75 && pieces[k].error > pieces[least].error)) least = k;
      }
      const auto end = std::lower_bound(ends.begin(), ends.end(), pieces[first].left);
      if (end == ends.end() || *end > pieces[k - 1].right) {
        found.push_back(locate(pieces[least].left, pieces[least].right));
      }
    }
    return found;
  }

  /// The jump or kink within [low, high]: where φ jumps, halving by values leads to the last bit.
  [[nodiscard]] double locate(double low, double high) const {
    const double width = high - low;
    const double before = call(function_.value, {low - width})[0];
    const double after = call(function_.value, {high + width})[0];
    if (!(std::abs(after - before) > 1e-6 * scales_.value)) return low + width / 2;
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return high;
      const double value = call(function_.value, {middle})[0];
      (std::abs(value - before) < std::abs(value - after) ? low : high) = middle;
    }
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
  std::vector<Verdict> judge(const std::vector<Interval>& intervals) const {
    std::vector<double> x;
    x.reserve(points * intervals.size());
    for (const auto& [left, right, tails] : intervals) {
      for (const double node : cosines().nodes) x.push_back(left + (right - left) * (node + 1) / 2);
      for (const double fraction : checks) x.push_back(left + (right - left) * fraction);
    }
    const std::vector<double> y = call(function_.value, x);
    const std::vector<double> slopes = function_.slope ? call(function_.slope, x) : std::vector<double>{};
    std::vector<Verdict> verdicts;
    for (std::size_t k = 0; k < intervals.size(); ++k) {
      verdicts.push_back(
          judge(intervals[k], y.data() + k * points, slopes.empty() ? nullptr : slopes.data() + k * points));
    }
    return verdicts;
  }

  static double discrepancy(const Series& series, const double* values) {
    double largest = 0;
    for (std::size_t i = 0; i < checks.size(); ++i) {
      largest = std::max(largest, std::abs(sum_series(series, 2 * checks[i] - 1) - values[fitted + i]));
    }
    return largest;
  }

  [[nodiscard]] Verdict judge(const Interval& interval, const double* values, const double* slopes) const {
    const double width = interval.right - interval.left;
    Verdict verdict;
    Piece& piece = verdict.piece;
    piece = {interval.left, interval.right, fit_series(values), {}, 0.0, 0.0};
    piece.slope = slopes != nullptr ? fit_series(slopes) : differentiate(piece.value, width);
    const double place = std::max(std::abs(interval.left), std::abs(interval.right));
    const double scale = std::max(scales_.value * place / reach_, largest_of(piece.value));
    const double slope_scale = std::max(scales_.slope, largest_of(piece.slope));
    verdict.tail = tail_of(piece.value);
    const double apart = discrepancy(piece.value, values);
    piece.error = std::max(verdict.tail, apart);
    double slope_limit = resolved_level * slope_scale;
    if (slopes != nullptr) {
      piece.slope_error = std::max(tail_of(piece.slope), discrepancy(piece.slope, slopes));
    } else {
      // A rounding of φ becomes terms²·2/width of one in φ', a quarter of which is rarely reached.
      const double amplified = rounding * scale * static_cast<double>(fitted * fitted) / (2 * width);
      slope_limit = std::max(1e-13 * slope_scale, amplified);
      piece.slope_error = verdict.tail * static_cast<double>(fitted * fitted) / width;
    }
    const bool settled = verdict.tail <= resolved_level * scale && apart <= 16 * resolved_level * scale;
    const bool slope_settled = piece.slope_error <= 16 * slope_limit;
    // Rounding of the coefficients, √(Σk⁴)·2/width of one at the ends of the piece.
    if (slopes == nullptr && settled) piece.slope_error = 256 * rounding * scale / width;
    if (slopes == nullptr && largest_of(piece.slope) <= piece.slope_error) piece.slope.fill(0);
    const bool noise =
        piece.error <= noise_level * std::max(scale, scales_.value) && verdict.tail > 0.5 * interval.tails[2];
    verdict.resolved = (settled && slope_settled) || noise;
    return verdict;
  }

  const Differentiable& function_;
  double reach_;
  Scales scales_;
};

/// 0 and powers of two from ½ on, both signs, up to the reach.
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

/// Kinks where the pieces on both sides meet, which is better than the middles of the intervals they were found in.
std::vector<double> meeting_points(const std::vector<Piece>& pieces, const std::vector<double>& found) {
  std::vector<double> points = found;
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    const double x = pieces[k].left;
    const auto at = std::lower_bound(found.begin(), found.end(), x);
    if (at == found.end() || *at != x) continue;
    const ValueAndSlope before = pieces[k - 1].at(x);
    const ValueAndSlope after = pieces[k].at(x);
    const double apart = before.value - after.value;
    const double shift = apart / (after.slope - before.slope);
    const bool jumps = std::abs(apart) > 1e-8 * std::max(largest_of(pieces[k - 1].value), largest_of(pieces[k].value));
    if (!jumps && std::abs(shift) <= suspect * std::abs(x))
      points[static_cast<std::size_t>(at - found.begin())] += shift;
  }
  return points;
}

std::vector<double> merged(std::vector<double> ends, const std::vector<double>& more) {
  ends.insert(ends.end(), more.begin(), more.end());
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// Ends of pieces that are ends of smoothness: the series on one side does not go on as that on the other.
std::vector<double> find_edges(const std::vector<Piece>& pieces, const Scales& scales) {
  std::vector<double> edges;
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    const Piece& before = pieces[k - 1];
    const Piece& after = pieces[k];
    const double beyond = 0.05 * std::min(before.right - before.left, after.right - after.left);
    const double size = std::max({scales.value, largest_of(before.value), largest_of(after.value)});
    const double apart = std::max(std::abs(before.at(after.left + beyond).value - after.at(after.left + beyond).value),
                                  std::abs(before.at(after.left - beyond).value - after.at(after.left - beyond).value));
    if (apart > 1e-11 * size + 1e3 * (before.error + after.error)) edges.push_back(after.left);
  }
  return edges;
}

}  // namespace

ValueAndSlope Piece::at(double x) const {
  const double y = (2 * x - left - right) / (right - left);
  return {sum_series(value, y), sum_series(slope, y)};
}

void Piece::at(std::span<const double> x, double* values, double* slopes) const {
  constexpr std::size_t width = 8;  // points whose recursions run side by side
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
  Cutter cutter(function, reach);
  const std::vector<double> ends = first_ends(reach);
  Pieces result{cutter.between(ends), {}, reach};
  const std::vector<double> found = cutter.singular_points(result.list, ends);
  if (!found.empty()) {
    result.list = cutter.between(merged(ends, found));
    result.list = cutter.between(merged(ends, meeting_points(result.list, found)));
  }
  result.edges = find_edges(result.list, cutter.scales());
  return result;
}

}  // namespace widelimit
