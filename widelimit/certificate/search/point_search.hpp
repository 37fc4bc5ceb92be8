#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/certificate/search/radius_search.hpp"

#include <limits>
#include <span>
#include <vector>

namespace widelimit {

/// State of the root search of one functional: its bound at the point, at the largest radius that holds and at the
/// smallest that fails.
struct FunctionalState {
  double start_bound = 0;
  double low = 0, low_bound = 0;
  double high = std::numeric_limits<double>::infinity(), high_bound = 0;
  int side = 0;  ///< of the last result: 1 if it held, −1 if not

  /// Records a bound. Two results on one side halve the bound at the other end (Illinois method).
  void record_bound(double r, double bound);
  /// Returns the zero of the secant through a radius that holds and one that does not, or through the point itself if
  /// none has failed yet. ∞ if there is no information.
  [[nodiscard]] double secant() const;
};

/// Radius search of one point: requests bounds at successive radii until it is done.
class PointSearch {
 public:
  /// Searches over the functionals from index `begin` on, with the given values at the point.
  PointSearch(RadiusGrid grid, const SearchRange& range, Index begin, std::span<const double> values);

  [[nodiscard]] bool done() const { return done_; }
  /// Returns the grid index of the largest proved radius, or none.
  [[nodiscard]] Index place() const { return low_; }

  void add_queries(std::vector<BallQuery>& queries);
  /// Processes the bounds of the requested queries, in order.
  void record_bound(const double* bounds);

 private:
  static constexpr Index none = RadiusGrid::none;
  static constexpr Index unbounded = std::numeric_limits<Index>::max();

  /// Returns the smallest secant zero of the functionals, restricted to failed functionals if there are any.
  [[nodiscard]] double expected() const;
  void finish();
  [[nodiscard]] Index next();

  RadiusGrid grid_;
  SearchRange range_;
  Index begin_;
  std::vector<FunctionalState> states_;
  std::vector<std::size_t> queried_;
  Index least_ = none, low_ = none, high_ = unbounded, candidate_ = none;
  Index width_ = 0;
  int rounds_ = 0;
  bool done_ = false;
};

/// Searches the radius of one point with bounds that are built once for a ball and then reused for smaller balls, more
/// tightly the closer their radii are (LowerBound::within): a few large balls, with many radii within each. Terminates
/// if a power of 1 + tolerance holds and the next one does not by the bound of its own ball; three to five balls.
///
/// The functional with the smallest value is searched first; the others are tested at its radius, with one ball for
/// all, and searched only if they fail. Returns the grid index found, or none. `progress` is polled before each ball
/// and may cancel the search.
[[nodiscard]] Index nested_search(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range,
                                  Index first_functional, std::span<const double> values, Index point,
                                  Progress* progress = nullptr);

}  // namespace widelimit
