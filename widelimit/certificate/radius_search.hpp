#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// What must stay positive, and its value at the point itself, from which secants begin.
struct SearchedFunctionals {
  std::span<const Functional> functionals;  ///< those of a point stand together
  std::span<const double> values;
};

/// Where the search of one point begins and ends.
struct SearchRange {
  double certified = 0;  ///< known already, by whatever means
  double first = 0;      ///< radius tried first, > 0
  double largest = 0;    ///< none beyond is tried
};

/// Of each point: from `first`, in multiples of its largest entry, up to what the options call largest, and not beyond
/// the extent of the box, where a ball holds nothing new.
[[nodiscard]] std::vector<SearchRange> search_ranges(MatrixView<const double> points, const CertifyOptions& options,
                                                     double first);

/// The largest radius of each point at which the bounds of all its functionals are positive, among the powers of
/// 1 + tolerance: methods that are better at every radius then give radii no smaller. 0 where none is.
///
/// All points go in step, so that a bound sees many balls at once: secants on the bounds, kept within brackets of one
/// radius that holds and one that does not, which are halved in the logarithm where secants are slow. A functional that
/// holds at a radius is not asked again below it. Three to eight evaluations. Bounds that nest are searched point by
/// point (nested_search), on `threads` threads.
[[nodiscard]] std::vector<double> search_radii(const LowerBound& bound, const SearchedFunctionals& searched,
                                               std::span<const SearchRange> ranges, double tolerance,
                                               Progress* progress, int threads = 0);

/// Whether the bounds of all functionals of a point are positive at this radius, for the points asked: one evaluation.
/// False for points without functionals.
[[nodiscard]] std::vector<bool> holds_at(const LowerBound& bound, std::span<const Functional> functionals,
                                         std::span<const char> asked, double radius);

}  // namespace widelimit
