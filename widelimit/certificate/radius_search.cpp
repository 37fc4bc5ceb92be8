#include "widelimit/certificate/radius_search.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace widelimit {

namespace {

/// Radii (1 + tolerance)^k.
struct RadiusGrid {
  double step;  // ln(1 + tolerance)
  [[nodiscard]] double radius(Index k) const { return std::exp(static_cast<double>(k) * step); }
  [[nodiscard]] Index floor(double r) const {
    auto k = static_cast<Index>(std::floor(std::log(r) / step));
    if (radius(k + 1) <= r) ++k;
    return radius(k) <= r ? k : k - 1;
  }
  /// Places that a factor spans, at least one.
  [[nodiscard]] Index span(double factor) const {
    return std::max<Index>(1, static_cast<Index>(std::log(factor) / step));
  }
};

/// What is known of one functional: its bound at the point itself, where it holds, and where it does not.
struct FunctionalState {
  double start_bound = 0;
  double low = 0, low_bound = 0;
  double high = std::numeric_limits<double>::infinity(), high_bound = 0;
  int side = 0;  // of the last answer: 1 where it held, −1 where not

  /// Two answers on one side halve the bound at the other end (the Illinois rule), so that secants go there.
  void hear(double r, double bound) {
    if (bound > 0) {
      low = r, low_bound = bound;
      if (side > 0) high_bound /= 2;
      side = 1;
    } else {
      high = r, high_bound = bound;
      if (side < 0) low_bound /= 2;
      side = -1;
    }
  }

  /// Where a straight line vanishes: through a radius that holds and one that does not, or before there is one through
  /// the point itself. ∞ where that tells nothing.
  [[nodiscard]] double secant() const {
    constexpr double nowhere = std::numeric_limits<double>::infinity();
    if (std::isfinite(high)) {
      return std::isfinite(high_bound) ? low + (high - low) * low_bound / (low_bound - high_bound) : nowhere;
    }
    return low > 0 && low_bound < start_bound ? low * start_bound / (start_bound - low_bound) : nowhere;
  }
};

/// The search of one point.
class PointSearch {
 public:
  PointSearch(RadiusGrid grid, const SearchRange& range, Index begin, std::span<const double> values)
      : grid_(grid), range_(range), begin_(begin), states_(values.size()) {
    most_ = range.largest > 0 ? grid.floor(range.largest) : none;
    least_ = grid.floor(range.first) - grid.span(1e12);
    if (range.certified > 0) low_ = grid.floor(range.certified * (1 + 1e-9));
    for (std::size_t f = 0; f < values.size(); ++f) {
      states_[f].start_bound = states_[f].low_bound = values[f];
      if (!(values[f] > 0)) done_ = true;
    }
    finish();
  }

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] double radius() const { return low_ == none ? 0 : grid_.radius(low_); }

  void ask(std::vector<BallQuery>& queries) {
    candidate_ = next();
    const double r = grid_.radius(candidate_);
    asked_.clear();
    for (std::size_t f = 0; f < states_.size(); ++f) {
      if (states_[f].low >= r) continue;
      asked_.push_back(f);
      queries.push_back({.functional = begin_ + static_cast<Index>(f), .radius = r});
    }
  }

  /// The answers to what was asked, in order.
  void hear(const double* bounds) {
    const double r = grid_.radius(candidate_);
    bool holds = true;
    for (std::size_t k = 0; k < asked_.size(); ++k) {
      states_[asked_[k]].hear(r, bounds[k]);
      holds = holds && bounds[k] > 0;
    }
    (holds ? low_ : high_) = candidate_;
    ++rounds_;
    finish();
  }

 private:
  static constexpr Index none = std::numeric_limits<Index>::min();
  static constexpr Index unbounded = std::numeric_limits<Index>::max();

  void finish() {
    if (low_ != none && low_ >= most_) done_ = true;
    if (most_ == none) done_ = true;
    if (high_ != unbounded && low_ != none && high_ - low_ <= 1) done_ = true;
    if (high_ != unbounded && low_ == none && high_ <= least_) done_ = true;
  }

  [[nodiscard]] Index next() {
    const double line = expected();
    const Index k = line > 0 && std::isfinite(line) ? grid_.floor(line) : unbounded;
    if (rounds_ == 0) return std::clamp(grid_.floor(range_.first), low_ == none ? none : low_ + 1, most_);
    // Before there is a bracket, lines may be trusted once; then steps are doubled.
    const Index stride = grid_.span(1.05) << std::min(2 * (rounds_ - 1), 12);
    if (high_ == unbounded) return std::min(most_, std::clamp(k, low_ + stride, low_ + grid_.span(32) + stride));
    if (low_ == none) return k < high_ ? std::min(k, high_ - stride) : high_ - grid_.span(8) - stride;
    const Index width = high_ - low_;
    const bool slow = k >= high_ || (rounds_ % 4 == 0 && 4 * width > width_);
    if (rounds_ % 4 == 0) width_ = width;
    return slow ? low_ + width / 2 : std::clamp(k, low_ + 1, high_ - 1);
  }

  /// The least radius at which the line of a functional vanishes, of those that have failed if any has.
  [[nodiscard]] double expected() const {
    double least = std::numeric_limits<double>::infinity();
    for (const FunctionalState& state : states_) {
      if (high_ == unbounded || std::isfinite(state.high)) least = std::min(least, state.secant());
    }
    return least;
  }

  RadiusGrid grid_;
  SearchRange range_;
  Index begin_;
  std::vector<FunctionalState> states_;
  std::vector<std::size_t> asked_;
  Index most_ = none, least_ = none, low_ = none, high_ = unbounded, candidate_ = none;
  Index width_ = 0;
  int rounds_ = 0;
  bool done_ = false;
};

using Searches = std::vector<std::optional<PointSearch>>;

bool active(const std::optional<PointSearch>& search) { return search && !search->done(); }

void search_in_step(const LowerBound& bound, Searches& searches, Progress* progress) {
  while (std::any_of(searches.begin(), searches.end(), active)) {
    std::vector<BallQuery> queries;
    std::vector<std::size_t> first;
    for (auto& search : searches) {
      first.push_back(queries.size());
      if (active(search)) search->ask(queries);
    }
    const std::vector<double> bounds = bound.evaluate(queries);
    for (std::size_t p = 0; p < searches.size(); ++p) {
      if (active(searches[p])) searches[p]->hear(bounds.data() + first[p]);
    }
    const auto left = std::count_if(searches.begin(), searches.end(), active);
    const Index done = std::ssize(searches) - left;
    if (progress != nullptr && !progress->update(done, std::ssize(searches), "points")) {
      fail(Code::interrupted, "stopped while radii of {} points were searched", left);
    }
  }
}

void search_one_by_one(const LowerBound& bound, Searches& searches, Progress* progress, int threads) {
  Pulse pulse(progress, std::ssize(searches), "points");
  parallel_for(
      std::ssize(searches), team_size(threads),
      [&](Index point) {
        auto& search = searches[at(point)];
        const auto around = bound.around_one_point();
        std::vector<BallQuery> queries;
        while (active(search)) {
          queries.clear();
          search->ask(queries);
          search->hear(around->evaluate(queries).data());
        }
      },
      [&](Index done) { pulse.at(done); });
}

double largest_entry(const double* row, Index size) {
  double largest = 0;
  for (Index j = 0; j < size; ++j) largest = std::max(largest, std::abs(row[j]));
  return largest > 0 ? largest : 1;
}

}  // namespace

std::vector<SearchRange> search_ranges(MatrixView<const double> points, const CertifyOptions& options, double first) {
  std::vector<SearchRange> ranges;
  for (Index k = 0; k < points.rows; ++k) {
    const double entry = largest_entry(points.row(k), points.cols);
    double largest = options.largest * entry;
    if (options.box) {
      const double across = options.norm == Norm::l2 ? std::sqrt(static_cast<double>(points.cols)) : 1;
      largest = std::min(largest, (options.box->high - options.box->low) * across * (1 + options.tolerance));
    }
    ranges.push_back({.first = std::min(first * entry, largest), .largest = largest});
  }
  return ranges;
}

std::vector<double> search_radii(const LowerBound& bound, const SearchedFunctionals& searched,
                                 std::span<const SearchRange> ranges, double tolerance, Progress* progress,
                                 int threads) {
  const RadiusGrid grid{std::log1p(tolerance)};
  const auto functionals = searched.functionals;
  Searches searches(ranges.size());
  for (Index begin = 0; begin < std::ssize(functionals);) {
    const Index point = functionals[at(begin)].point;
    Index end = begin;
    while (end < std::ssize(functionals) && functionals[at(end)].point == point) ++end;
    searches[at(point)].emplace(grid, ranges[at(point)], begin, searched.values.subspan(at(begin), at(end - begin)));
    begin = end;
  }
  if (bound.around_one_point()) {
    search_one_by_one(bound, searches, progress, threads);
  } else {
    search_in_step(bound, searches, progress);
  }
  std::vector<double> radii;
  for (const auto& search : searches) radii.push_back(search ? search->radius() : 0);
  return radii;
}

std::vector<bool> holds_at(const LowerBound& bound, std::span<const Functional> functionals,
                           std::span<const char> asked, double radius) {
  std::vector<BallQuery> queries;
  std::vector<bool> holds(asked.size(), false);
  for (std::size_t f = 0; f < functionals.size(); ++f) {
    const std::size_t point = at(functionals[f].point);
    if (asked[point] == 0) continue;
    queries.push_back({.functional = static_cast<Index>(f), .radius = radius});
    holds[point] = true;
  }
  const std::vector<double> bounds = bound.evaluate(queries);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    if (!(bounds[q] > 0)) holds[at(functionals[at(queries[q].functional)].point)] = false;
  }
  return holds;
}

}  // namespace widelimit
