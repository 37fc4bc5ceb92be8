#include "widelimit/certificate/search/point_search.hpp"

#include "widelimit/base/progress.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace widelimit {

void FunctionalState::record_bound(double r, double bound) {
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

double FunctionalState::secant() const {
  constexpr double nowhere = std::numeric_limits<double>::infinity();
  if (std::isfinite(high)) {
    return std::isfinite(high_bound) ? low + (high - low) * low_bound / (low_bound - high_bound) : nowhere;
  }
  return low > 0 && low_bound < start_bound ? low * start_bound / (start_bound - low_bound) : nowhere;
}

PointSearch::PointSearch(RadiusGrid grid, const SearchRange& range, Index begin, std::span<const double> values)
    : grid_(grid),
      range_(range),
      begin_(begin),
      states_(values.size()),
      least_(grid.least(range.first)),
      low_(range.certified) {
  for (std::size_t f = 0; f < values.size(); ++f) {
    states_[f].start_bound = states_[f].low_bound = values[f];
    if (!(values[f] > 0)) done_ = true;
  }
  finish();
}

void PointSearch::add_queries(std::vector<BallQuery>& queries) {
  candidate_ = next();
  const double r = grid_.radius(candidate_);
  queried_.clear();
  for (std::size_t f = 0; f < states_.size(); ++f) {
    if (states_[f].low >= r) continue;
    queried_.push_back(f);
    queries.push_back({.functional = begin_ + static_cast<Index>(f), .radius = r});
  }
}

void PointSearch::record_bound(const double* bounds) {
  const double r = grid_.radius(candidate_);
  bool holds = true;
  for (std::size_t k = 0; k < queried_.size(); ++k) {
    states_[queried_[k]].record_bound(r, bounds[k]);
    holds = holds && bounds[k] > 0;
  }
  (holds ? low_ : high_) = candidate_;
  ++rounds_;
  finish();
}

void PointSearch::finish() {
  if (range_.largest == none || (low_ != none && low_ >= range_.largest)) done_ = true;
  if (high_ != unbounded && low_ != none && high_ - low_ <= 1) done_ = true;
  if (high_ != unbounded && low_ == none && high_ <= least_) done_ = true;
}

Index PointSearch::next() {
  const double line = expected();
  const Index k = line > 0 && std::isfinite(line) ? grid_.floor(line) : unbounded;
  if (rounds_ == 0) return std::clamp(range_.first, low_ == none ? none : low_ + 1, range_.largest);
  // Without a bracket, a secant step is taken once; later strides increase geometrically.
  const Index stride = grid_.span(1.05) << std::min(2 * (rounds_ - 1), 12);
  if (high_ == unbounded) return std::min(range_.largest, std::clamp(k, low_ + stride, low_ + grid_.span(32) + stride));
  if (low_ == none) return std::max(least_, k < high_ ? std::min(k, high_ - stride) : high_ - grid_.span(8) - stride);
  const Index width = high_ - low_;
  const bool slow = k >= high_ || (rounds_ % 4 == 0 && 4 * width > width_);
  if (rounds_ % 4 == 0) width_ = width;
  return slow ? low_ + width / 2 : std::clamp(k, low_ + 1, high_ - 1);
}

double PointSearch::expected() const {
  double least = std::numeric_limits<double>::infinity();
  for (const FunctionalState& state : states_) {
    if (high_ == unbounded || std::isfinite(state.high)) least = std::min(least, state.secant());
  }
  return least;
}

namespace {

/// The bound of a ball that was built for that ball.
struct PointBound {
  double radius = 0;
  double bound = 0;
};

bool near_each_other(const PointBound& a, const PointBound& b) {
  constexpr double near = 1.25;
  return a.radius < near * b.radius && b.radius < near * a.radius;
}

/// Inverse interpolation at bound 0: the radius as a polynomial of the bound through all given bounds.
double extrapolated(std::span<const PointBound> bounds) {
  double radius = 0;
  for (const PointBound& a : bounds) {
    double term = a.radius;
    for (const PointBound& b : bounds) {
      if (&a != &b) term *= b.bound / (b.bound - a.bound);
    }
    radius += term;
  }
  return radius;
}

/// Radius search of one functional.
class NestedSearch {
 public:
  NestedSearch(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range, Index functional,
               double value, Index point)
      : bound_(bound),
        grid_(grid),
        functional_(functional),
        value_(value),
        point_(point),
        first_(range.first),
        least_(grid.least(range.first)),
        most_(range.largest),
        low_(range.certified) {}

  /// Calls `before` before each ball; it may cancel the search by throwing.
  [[nodiscard]] Index run(const std::function<void()>& before) {
    Index place = low_ == RadiusGrid::none ? first_ : std::max(first_, low_ + 1);
    while (open()) {
      before();
      add_ball_queries(std::min(place, most_));
      place = next();
    }
    return low_;
  }

 private:
  [[nodiscard]] bool open() const {
    if (low_ == RadiusGrid::none) return failed_ > least_;
    return low_ < most_ && (failed_ == unbounded || failed_ - low_ > 1);
  }

  /// Searches all radii up to that of a ball, with bounds built for that ball.
  void add_ball_queries(Index place) {
    const double radius = grid_.radius(place);
    const auto within = bound_.within({.point = point_, .radius = radius});
    PointSearch search(grid_, {.certified = low_, .first = place, .largest = place}, functional_, {&value_, 1});
    std::optional<double> own;
    std::vector<BallQuery> queries;
    while (!search.done()) {
      queries.clear();
      search.add_queries(queries);
      const std::vector<double> bounds = within->evaluate(queries);
      if (!own) own = bounds.front();
      search.record_bound(bounds.data());
    }
    low_ = std::max(low_, search.place());
    if (search.place() != place) failed_ = place;
    bounds_.push_back({radius, own.value_or(0)});
  }

  [[nodiscard]] Index next() const {
    if (low_ == RadiusGrid::none) return std::max(least_, failed_ - grid_.span(8));
    constexpr int slow = 4;
    const auto balls = static_cast<int>(bounds_.size());
    // The smallest radius expected to fail; if it does, the search ends.
    const double line =
        std::clamp(expected(), grid_.radius(low_), grid_.radius(failed_ == unbounded ? most_ : failed_));
    const Index place = grid_.floor(line) + 1;
    if (failed_ != unbounded) {
      return balls > 2 * slow ? low_ + (failed_ - low_) / 2 : std::clamp(place, low_ + 1, failed_ - 1);
    }
    const Index stride = balls > slow ? grid_.span(1.05) << std::min(2 * (balls - slow), 12) : 1;
    return std::max(place, low_ + stride);
  }

  /// Returns the expected zero of the bounds of balls, each built for its own radius: inverse interpolation through the
  /// last three or two bounds if their radii are close. The bounds are concave in the radius, since curvature bounds
  /// get worse with the ball: the secant of a small ball is too long, and near the zero the slope is several times that
  /// of the line from the point itself. Both constants were tuned on digits; other data need one or two more balls.
  [[nodiscard]] double expected() const {
    constexpr double reached = 0.7, steepness = 2.4;
    const auto known = std::span<const PointBound>(bounds_);
    const PointBound& last = known.back();
    for (std::size_t count = std::min<std::size_t>(3, known.size()); count >= 2; --count) {
      const auto some = known.last(count);
      const bool near = std::all_of(some.begin(), some.end(), [&](const auto& b) { return near_each_other(b, last); });
      const double place = extrapolated(some);
      if (near && std::isfinite(place) && place > grid_.radius(low_)) return place;
    }
    if (!std::isfinite(last.bound)) return last.radius / 2;
    const double line = last.radius * value_ / (value_ - last.bound);
    if (known.size() == 1 && last.bound > 0 && std::isfinite(line)) return std::max(reached * line, last.radius);
    return last.radius * std::clamp(1 + last.bound / (steepness * value_), 0.5, 2.0);
  }

  static constexpr Index unbounded = std::numeric_limits<Index>::max();

  const LowerBound& bound_;
  RadiusGrid grid_;
  Index functional_;
  double value_;  ///< value at the point
  Index point_;
  Index first_, least_, most_;
  Index low_;                 ///< largest grid index known to hold
  Index failed_ = unbounded;  ///< smallest grid index that fails by the bound of its own ball
  std::vector<PointBound> bounds_;
};

}  // namespace

Index nested_search(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range, Index first_functional,
                    std::span<const double> values, Index point, Progress* progress) {
  if (range.largest == RadiusGrid::none) return range.certified;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  if (!(values[order.front()] > 0)) return range.certified;
  SearchRange left = range;
  ProgressTicker ticker(progress, std::ssize(order), "functionals of a point");
  Index done = 0;
  const auto search = [&](std::size_t f) {
    NestedSearch one(bound, grid, left, first_functional + static_cast<Index>(f), values[f], point);
    left.first = left.largest = one.run([&] { ticker.at(done); });
    return left.largest != RadiusGrid::none;
  };
  if (!search(order.front())) return RadiusGrid::none;
  if (order.size() == 1 || left.largest <= range.certified) return left.largest;
  // The other functionals usually hold at this radius; one ball tests all of them.
  const double radius = grid.radius(left.largest);
  std::vector<BallQuery> others;
  for (const std::size_t f : std::span(order).subspan(1)) {
    others.push_back({.functional = first_functional + static_cast<Index>(f), .radius = radius});
  }
  ticker.at(++done);
  const std::vector<double> bounds = bound.within({.point = point, .radius = radius})->evaluate(others);
  for (std::size_t k = 0; k < others.size(); ++k, ++done) {
    if (!(bounds[k] > 0) && !search(order[k + 1])) return RadiusGrid::none;
  }
  return left.largest;
}

}  // namespace widelimit
