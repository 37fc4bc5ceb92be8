#include "widelimit/certificate/search/radius_search.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/certificate/search/point_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace widelimit {

namespace {

using Searches = std::vector<std::optional<PointSearch>>;

bool active(const std::optional<PointSearch>& search) { return search && !search->done(); }

void search_in_step(const LowerBound& bound, Searches& searches, Progress* progress) {
  while (std::any_of(searches.begin(), searches.end(), active)) {
    std::vector<BallQuery> queries;
    std::vector<std::size_t> first;
    for (auto& search : searches) {
      first.push_back(queries.size());
      if (active(search)) search->add_queries(queries);
    }
    const std::vector<double> bounds = bound.evaluate(queries);
    for (std::size_t p = 0; p < searches.size(); ++p) {
      if (active(searches[p])) searches[p]->record_bound(bounds.data() + first[p]);
    }
    const auto left = std::count_if(searches.begin(), searches.end(), active);
    const Index done = std::ssize(searches) - left;
    if (progress != nullptr && !progress->update(done, std::ssize(searches), "points")) {
      fail(Code::interrupted, "stopped while radii of {} points were searched", left);
    }
  }
}

/// The functionals of a point, which are contiguous.
struct PointFunctionalRange {
  Index begin = 0;
  Index count = 0;
};

std::vector<PointFunctionalRange> functionals_by_point(std::span<const Functional> functionals, Index points) {
  std::vector<PointFunctionalRange> result(usize(points));
  for (Index f = 0; f < std::ssize(functionals); ++f) {
    PointFunctionalRange& range = result[usize(functionals[usize(f)].point)];
    if (range.count++ == 0) range.begin = f;
  }
  return result;
}

/// Returns the extent of the box, in units of the ball's half-widths.
double box_width(const BallShape& shape, Index features) {
  double width = 0, squares = 0;
  for (Index j = 0; j < features; ++j) {
    const double own = shape.box->high(j) - shape.box->low(j);
    if (shape.width(j) > 0) width = std::max(width, own / shape.width(j));
    squares += own * own;
  }
  return shape.norm == Norm::l2 ? std::sqrt(squares) : width;
}

double largest_entry(const double* row, Index size) {
  double largest = 0;
  for (Index j = 0; j < size; ++j) largest = std::max(largest, std::abs(row[j]));
  return largest > 0 ? largest : 1;
}

}  // namespace

Index RadiusGrid::floor(double r) const {
  r = std::clamp(r, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
  auto k = static_cast<Index>(std::floor(std::log(r) / step));
  if (radius(k + 1) <= r) ++k;
  return radius(k) <= r ? k : k - 1;
}

Index RadiusGrid::span(double factor) const { return std::max<Index>(1, static_cast<Index>(std::log(factor) / step)); }

Index RadiusGrid::least(Index first) const {
  return std::max(first - span(1e12), floor(std::numeric_limits<double>::min()));
}

std::vector<SearchRange> search_ranges(const RadiusGrid& grid, MatrixView<const double> points,
                                       const CertifyOptions& options, double first, double beside) {
  std::vector<SearchRange> ranges;
  const double across = options.box ? box_width(options.shape(), points.cols) : 0;
  for (Index k = 0; k < points.rows; ++k) {
    const double entry = std::max(largest_entry(points.row(k), points.cols), beside);
    double largest = options.largest * entry;
    if (options.box) largest = std::min(largest, across * (1 + options.tolerance));
    ranges.push_back({.first = grid.floor(std::min(first * entry, largest)), .largest = grid.floor(largest)});
  }
  return ranges;
}

std::vector<Index> search_radii(const LowerBound& bound, const SearchedFunctionals& searched, const RadiusGrid& grid,
                                std::span<const SearchRange> ranges, const Engine& engine, Progress* progress) {
  const std::vector<PointFunctionalRange> points = functionals_by_point(searched.functionals, std::ssize(ranges));
  const auto values = [&](std::size_t p) {
    return searched.values.subspan(usize(points[p].begin), usize(points[p].count));
  };
  std::vector<Index> places(ranges.size(), RadiusGrid::none);
  if (bound.nests()) {
    SharedProgress shared(progress, std::ssize(ranges), "points");
    const auto search = [&](Index p) {
      if (points[usize(p)].count == 0) return;
      places[usize(p)] =
          nested_search(bound, grid, ranges[usize(p)], points[usize(p)].begin, values(usize(p)), p, shared.get());
    };
    engine.for_each(std::ssize(ranges), search, [&](Index done) { shared.at(done); });
    return places;
  }
  Searches searches(ranges.size());
  for (std::size_t p = 0; p < ranges.size(); ++p) {
    if (points[p].count > 0) searches[p].emplace(grid, ranges[p], points[p].begin, values(p));
  }
  search_in_step(bound, searches, progress);
  for (std::size_t p = 0; p < ranges.size(); ++p) {
    if (searches[p]) places[p] = searches[p]->place();
  }
  return places;
}

std::vector<bool> holds_at(const LowerBound& bound, std::span<const Functional> functionals,
                           std::span<const char> selected, double radius) {
  std::vector<BallQuery> queries;
  std::vector<bool> holds(selected.size(), false);
  for (std::size_t f = 0; f < functionals.size(); ++f) {
    const std::size_t point = usize(functionals[f].point);
    if (selected[point] == 0) continue;
    queries.push_back({.functional = static_cast<Index>(f), .radius = radius});
    holds[point] = true;
  }
  const std::vector<double> bounds = bound.evaluate(queries);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    if (!(bounds[q] > 0)) holds[usize(functionals[usize(queries[q].functional)].point)] = false;
  }
  return holds;
}

}  // namespace widelimit
