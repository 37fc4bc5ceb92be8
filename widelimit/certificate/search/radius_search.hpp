#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/engine.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace widelimit {

/// The functionals to keep positive, and their values at the points, from which secants start.
struct SearchedFunctionals {
  std::span<const Functional> functionals;  ///< those of one point are contiguous
  std::span<const double> values;
};

/// The grid of candidate radii, (1 + tolerance)^k for integer k: methods with tighter bounds at every radius then
/// return radii that are not smaller. Radii are represented by k, so that the returned radius is exactly one that was
/// proved.
struct RadiusGrid {
  static constexpr Index none = std::numeric_limits<Index>::min();

  explicit RadiusGrid(double tolerance) : step(std::log1p(tolerance)) {}
  double step;  ///< ln(1 + tolerance)
  [[nodiscard]] double radius(Index k) const { return k == none ? 0 : std::exp(static_cast<double>(k) * step); }
  /// Returns the largest k whose radius is not larger than r.
  [[nodiscard]] Index floor(double r) const;
  /// Returns the number of grid steps in a factor, at least one.
  [[nodiscard]] Index span(double factor) const;
  /// Returns where a search from `first` gives up: twelve decades below, and above underflow.
  [[nodiscard]] Index least(Index first) const;
};

/// Start and limit of the search of one point, as grid indices.
struct SearchRange {
  Index certified = RadiusGrid::none;  ///< already proved, by any method
  Index first = 0;                     ///< first radius to try
  Index largest = RadiusGrid::none;    ///< upper limit of the search; none: no search
};

/// Returns the search range of each point: starts at `first` times its largest entry (or `beside`, if larger), limited
/// by options.largest and by the extent of the box, beyond which a ball contains nothing new.
[[nodiscard]] std::vector<SearchRange> search_ranges(const RadiusGrid& grid, MatrixView<const double> points,
                                                     const CertifyOptions& options, double first, double beside = 0);

/// Returns the grid index of the largest radius of each point at which the bounds of all its functionals were evaluated
/// and are positive; none if there is no such radius.
///
/// Processes all points in lockstep, so that a bound is evaluated on many balls at once. Uses secants on the bounds
/// within brackets of one radius that holds and one that does not; slow brackets are bisected in the logarithm. A
/// functional that holds at a radius is not evaluated again below it. Three to eight evaluations. Bounds that nest are
/// searched point by point (nested_search), in parallel.
[[nodiscard]] std::vector<Index> search_radii(const LowerBound& bound, const SearchedFunctionals& searched,
                                              const RadiusGrid& grid, std::span<const SearchRange> ranges,
                                              const Engine& engine, Progress* progress);

/// Returns whether the bounds of all functionals of a point are positive at this radius, for the points with
/// selected[k] set: one evaluation. False for points without functionals.
[[nodiscard]] std::vector<bool> holds_at(const LowerBound& bound, std::span<const Functional> functionals,
                                         std::span<const char> selected, double radius);

}  // namespace widelimit
