#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/engine.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace widelimit {

/// What must stay positive, and its value at the point itself, from which secants begin.
struct SearchedFunctionals {
  std::span<const Functional> functionals;  ///< those of a point stand together
  std::span<const double> values;
};

/// The radii that are tried, (1 + tolerance)^k for whole k: methods that are better at every radius then give radii no
/// smaller. A place k stands for its radius, so that one that was proved is the one that is returned.
struct RadiusGrid {
  static constexpr Index none = std::numeric_limits<Index>::min();

  explicit RadiusGrid(double tolerance) : step(std::log1p(tolerance)) {}
  double step;  ///< ln(1 + tolerance)
  [[nodiscard]] double radius(Index k) const { return k == none ? 0 : std::exp(static_cast<double>(k) * step); }
  /// The last that is not larger.
  [[nodiscard]] Index floor(double r) const;
  /// Places that a factor spans, at least one.
  [[nodiscard]] Index span(double factor) const;
  /// Where a search from `first` gives up: twelve digits below, and above what underflows.
  [[nodiscard]] Index least(Index first) const;
};

/// Where the search of one point begins and ends, as places.
struct SearchRange {
  Index certified = RadiusGrid::none;  ///< proved already, by whatever means
  Index first = 0;                     ///< tried first
  Index largest = RadiusGrid::none;    ///< none beyond is tried; none: nothing is
};

/// Of each point: from `first`, in multiples of its largest entry (or of `beside`, where that is larger), up to what
/// the options call largest, and not beyond the extent of the box, where a ball holds nothing new.
[[nodiscard]] std::vector<SearchRange> search_ranges(const RadiusGrid& grid, MatrixView<const double> points,
                                                     const CertifyOptions& options, double first, double beside = 0);

/// The place of the largest radius of each point at which the bounds of all its functionals were evaluated and are
/// positive; none where there is no such radius.
///
/// All points go in step, so that a bound sees many balls at once: secants on the bounds, kept within brackets of one
/// radius that holds and one that does not, which are halved in the logarithm where secants are slow. A functional that
/// holds at a radius is not asked again below it. Three to eight evaluations. Bounds that nest are searched point by
/// point (nested_search), in parallel.
[[nodiscard]] std::vector<Index> search_radii(const LowerBound& bound, const SearchedFunctionals& searched,
                                              const RadiusGrid& grid, std::span<const SearchRange> ranges,
                                              const Engine& engine, Progress* progress);

/// Whether the bounds of all functionals of a point are positive at this radius, for the points asked: one evaluation.
/// False for points without functionals.
[[nodiscard]] std::vector<bool> holds_at(const LowerBound& bound, std::span<const Functional> functionals,
                                         std::span<const char> asked, double radius);

}  // namespace widelimit
