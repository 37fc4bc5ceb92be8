#pragma once

#include "widelimit/base/types.hpp"

#include <limits>

namespace widelimit {

/// The search for the largest radius whose lower bound is positive, one radius at a time, so that the searches of many
/// points can go in lock-step. Between a radius that holds and one that does not, the next is where the chord of the
/// bounds meets zero (Illinois: a value that stays is halved), and the middle where chords did not halve the
/// bracket twice, so that it ends whatever the bound does. What it calls certified is always a radius it was told a
/// positive bound of: bounds need not be monotone.
class Bracket {
 public:
  /// `at_zero` > 0: the bound at radius 0. `first` is tried first, `largest` is enough. Ends at a relative width of
  /// `tolerance`.
  Bracket(double at_zero, double first, double largest, double tolerance);

  [[nodiscard]] bool done() const;
  [[nodiscard]] double next() const;
  /// The bound at next().
  void hear(double bound);
  [[nodiscard]] double certified() const { return low_; }

 private:
  [[nodiscard]] double beyond() const;
  [[nodiscard]] double between() const;

  double at_zero_;
  double first_;
  double largest_;
  double tolerance_;
  double low_ = 0;
  double high_ = std::numeric_limits<double>::infinity();
  double low_value_;       ///< at low_, halved where low_ stays
  double high_value_ = 0;  ///< at high_, halved where high_ stays
  double true_low_value_;  ///< at low_
  int side_ = 0;           ///< which end moved last
  Index slow_ = 0;         ///< bounds in a row that did not halve the bracket
  Index heard_ = 0;
};

}  // namespace widelimit
