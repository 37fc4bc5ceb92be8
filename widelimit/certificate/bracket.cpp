#include "widelimit/certificate/bracket.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index most_bounds = 200;
/// A radius below this part of the largest one is 0.
constexpr double vanishing = 1e-18;

}  // namespace

Bracket::Bracket(double at_zero, double first, double largest, double tolerance)
    : at_zero_(at_zero),
      first_(std::min(first, largest)),
      largest_(largest),
      tolerance_(tolerance),
      low_value_(at_zero),
      true_low_value_(at_zero) {}

bool Bracket::done() const {
  return low_ >= largest_ || high_ - low_ <= tolerance_ * low_ || high_ <= vanishing * largest_ ||
         heard_ >= most_bounds;
}

/// No radius has failed yet: somewhat beyond where the line through the bounds at 0 and at low_ meets zero.
double Bracket::beyond() const {
  if (low_ == 0) return first_;
  const double fall = at_zero_ - true_low_value_;
  const double meets = fall > 0 ? low_ + 1.2 * true_low_value_ * (low_ / fall) : 64 * low_;
  return std::min(std::clamp(meets, 2 * low_, 64 * low_), largest_);
}

double Bracket::between() const {
  const double width = high_ - low_;
  if (!std::isfinite(high_value_) || slow_ >= 2) return low_ == 0 ? high_ / 16 : low_ + width / 2;
  const double meets = low_ + width * (low_value_ / (low_value_ - high_value_));
  // Past the root by less than the tolerance, on the side of the farther end: that end then closes the bracket.
  const double past = 0.4 * tolerance_ * meets;
  const double tried = meets - low_ < high_ - meets ? meets + past : meets - past;
  return std::clamp(tried, low_ + 0.01 * width, high_ - 0.01 * width);
}

double Bracket::next() const { return std::isinf(high_) ? beyond() : between(); }

void Bracket::hear(double bound) {
  const double radius = next();
  const double width = high_ - low_;
  ++heard_;
  if (std::isfinite(bound) && bound > 0) {
    low_ = radius;
    low_value_ = true_low_value_ = bound;
    if (side_ == 1) high_value_ /= 2;
    side_ = 1;
  } else {
    high_ = radius;
    high_value_ = std::isnan(bound) ? -std::numeric_limits<double>::infinity() : bound;
    if (side_ == -1) low_value_ /= 2;
    side_ = -1;
  }
  slow_ = high_ - low_ > width / 2 ? slow_ + 1 : 0;
}

}  // namespace widelimit
