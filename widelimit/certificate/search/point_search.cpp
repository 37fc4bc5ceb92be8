#include "widelimit/certificate/search/point_search.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

void FunctionalState::hear(double r, double bound) {
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

void PointSearch::ask(std::vector<BallQuery>& queries) {
  candidate_ = next();
  const double r = grid_.radius(candidate_);
  asked_.clear();
  for (std::size_t f = 0; f < states_.size(); ++f) {
    if (states_[f].low >= r) continue;
    asked_.push_back(f);
    queries.push_back({.functional = begin_ + static_cast<Index>(f), .radius = r});
  }
}

void PointSearch::hear(const double* bounds) {
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

void PointSearch::finish() {
  if (range_.largest == none || (low_ != none && low_ >= range_.largest)) done_ = true;
  if (high_ != unbounded && low_ != none && high_ - low_ <= 1) done_ = true;
  if (high_ != unbounded && low_ == none && high_ <= least_) done_ = true;
}

Index PointSearch::next() {
  const double line = expected();
  const Index k = line > 0 && std::isfinite(line) ? grid_.floor(line) : unbounded;
  if (rounds_ == 0) return std::clamp(range_.first, low_ == none ? none : low_ + 1, range_.largest);
  // Before there is a bracket, lines may be trusted once; then steps are doubled.
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

}  // namespace widelimit
