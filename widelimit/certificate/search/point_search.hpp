#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/certificate/search/radius_search.hpp"

#include <limits>
#include <span>
#include <vector>

namespace widelimit {

/// What is known of one functional: its bound at the point itself, where it holds, and where it does not.
struct FunctionalState {
  double start_bound = 0;
  double low = 0, low_bound = 0;
  double high = std::numeric_limits<double>::infinity(), high_bound = 0;
  int side = 0;  ///< of the last answer: 1 where it held, −1 where not

  /// Two answers on one side halve the bound at the other end (the Illinois rule), so that secants go there.
  void hear(double r, double bound);
  /// Where a straight line vanishes: through a radius that holds and one that does not, or before there is one through
  /// the point itself. ∞ where that gives no information.
  [[nodiscard]] double secant() const;
};

/// The search of one point: asks for bounds at one radius after the other, until it is done.
class PointSearch {
 public:
  /// Functionals from `begin` on, whose values at the point are given.
  PointSearch(RadiusGrid grid, const SearchRange& range, Index begin, std::span<const double> values);

  [[nodiscard]] bool done() const { return done_; }
  /// Of the largest radius that is proved, or none.
  [[nodiscard]] Index place() const { return low_; }

  void ask(std::vector<BallQuery>& queries);
  /// The answers to what was asked, in order.
  void hear(const double* bounds);

 private:
  static constexpr Index none = RadiusGrid::none;
  static constexpr Index unbounded = std::numeric_limits<Index>::max();

  /// The least radius at which the line of a functional vanishes, of those that have failed if any has.
  [[nodiscard]] double expected() const;
  void finish();
  [[nodiscard]] Index next();

  RadiusGrid grid_;
  SearchRange range_;
  Index begin_;
  std::vector<FunctionalState> states_;
  std::vector<std::size_t> asked_;
  Index least_ = none, low_ = none, high_ = unbounded, candidate_ = none;
  Index width_ = 0;
  int rounds_ = 0;
  bool done_ = false;
};

/// The search of one point with bounds whose work is done once for a ball and serves all smaller ones, the better the
/// nearer their radii are (LowerBound::within): a few large balls, and many radii within each. It ends where a power of
/// 1 + tolerance holds and the next does not by the bound of its own ball; three to five balls.
///
/// The functional of the least value goes first; the others are asked whether they hold as far, by one ball for all of
/// them, and searched only where they do not. Returns the place found, or none. `progress` is asked before each ball
/// whether to go on.
[[nodiscard]] Index nested_search(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range,
                                  Index first_functional, std::span<const double> values, Index point,
                                  Progress* progress = nullptr);

}  // namespace widelimit
