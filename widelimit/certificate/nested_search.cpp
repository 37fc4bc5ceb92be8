#include "widelimit/certificate/nested_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace widelimit {

namespace {

/// The least bound of a point's functionals on a ball, by the bound made for that ball.
struct OwnBound {
  double radius = 0;
  double bound = 0;
};

class NestedSearch {
 public:
  NestedSearch(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range, Index first_functional,
               std::span<const double> values, Index point)
      : bound_(bound),
        grid_(grid),
        first_functional_(first_functional),
        values_(values),
        point_(point),
        close_(grid.span(1.007)),
        first_(grid.floor(range.first)),
        least_(first_ - grid.span(1e12)),
        most_(grid.floor(range.largest)),
        start_(*std::min_element(values.begin(), values.end())),
        last_{0, start_} {
    if (range.certified > 0) low_ = grid.floor(range.certified * (1 + 1e-9));
  }

  [[nodiscard]] double run() {
    if (!(start_ > 0)) return radius_found();
    Index place = first_;
    if (low_ != PointSearch::none) place = std::max(place, low_ + 1);
    while (open()) {
      ask_ball(std::min(place, most_));
      place = next();
    }
    return radius_found();
  }

 private:
  [[nodiscard]] double radius_found() const { return low_ == PointSearch::none ? 0 : grid_.radius(low_); }
  [[nodiscard]] bool open() const {
    if (low_ == PointSearch::none) return failed_ > least_;
    return low_ < most_ && (failed_ == unbounded || failed_ - low_ > close_);
  }

  /// All radii up to that of a ball, with what the ball says of them.
  void ask_ball(Index place) {
    const double radius = grid_.radius(place);
    const auto within = bound_.within({.point = point_, .radius = radius});
    PointSearch search(grid_, {.certified = radius_found(), .first = radius, .largest = radius * (1 + 1e-12)},
                       first_functional_, values_);
    std::optional<double> own;
    std::vector<BallQuery> queries;
    while (!search.done()) {
      queries.clear();
      search.ask(queries);
      const std::vector<double> bounds = within->evaluate(queries);
      if (!own) own = *std::min_element(bounds.begin(), bounds.end());
      search.hear(bounds.data());
    }
    low_ = std::max(low_, search.place());
    if (search.place() != place) failed_ = place;
    before_ = last_;
    last_ = {radius, own.value_or(0)};
    ++balls_;
  }

  [[nodiscard]] Index next() const {
    if (low_ == PointSearch::none) return failed_ - grid_.span(8);
    const Index most = failed_ == unbounded ? most_ : failed_ - 1;
    constexpr int slow = 8;
    if (failed_ != unbounded && balls_ > slow) return low_ + (failed_ - low_) / 2;
    // A little more than expected, and a tenth of the way to there: a ball that fails nearby ends the search.
    const double radius = expected();
    const double farther = std::clamp(radius + (balls_ > 1 ? 0.1 * std::abs(radius - last_.radius) : 0), radius_found(),
                                      grid_.radius(most));
    return std::clamp(grid_.floor(farther) + close_ / 3, low_ + 1, std::max(low_ + 1, most));
  }

  /// Where the bounds of balls, each by its own, would vanish: by the line through the last two where they are near
  /// each other. They bend down, since bounds of curvature worsen with the ball: the line of a small ball is too long,
  /// and at the end they fall some times faster than a line from the point itself. Both numbers are those of digits;
  /// where they are others, lines take a ball or two more.
  [[nodiscard]] double expected() const {
    constexpr double near = 1.25, reached = 0.7, steepness = 2.4;
    const double line = last_.radius + (last_.radius - before_.radius) * last_.bound / (before_.bound - last_.bound);
    const bool near_each_other = last_.radius < near * before_.radius && before_.radius < near * last_.radius;
    const bool usable = line > 0 && std::isfinite(line);
    if (usable && near_each_other) return line;
    if (usable && balls_ == 1) return std::max(reached * line, last_.radius);
    const double fall = std::isfinite(last_.bound) ? last_.bound / (steepness * start_) : -1;
    return last_.radius * std::clamp(1 + fall, 0.5, 2.0);
  }

  static constexpr Index unbounded = std::numeric_limits<Index>::max();

  const LowerBound& bound_;
  RadiusGrid grid_;
  Index first_functional_;
  std::span<const double> values_;
  Index point_;
  Index close_;
  Index first_, least_, most_;
  Index low_ = PointSearch::none;  ///< the last place known to hold
  Index failed_ = unbounded;       ///< the first that does not by the bound of its own ball
  double start_;                   ///< at the point itself
  OwnBound before_, last_;
  int balls_ = 0;
};

}  // namespace

double nested_search(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range, Index first_functional,
                     std::span<const double> values, Index point) {
  if (!(range.largest > 0)) return range.certified;
  return NestedSearch(bound, grid, range, first_functional, values, point).run();
}

}  // namespace widelimit
