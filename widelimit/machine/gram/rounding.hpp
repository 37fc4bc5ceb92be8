#pragma once

#include "widelimit/base/types.hpp"

#include <cmath>

namespace widelimit {

/// Unit roundoff u: a float64 operation has relative error at most u.
inline constexpr double unit_rounding = 0x1p-53;
/// Absolute error of an operation whose result underflows.
inline constexpr double underflow_unit = 0x1p-1074;

/// γ_n = nu/(1 − nu): a sum of n products, in any order, has an error of at most γ_n times the sum of their absolute
/// values (Higham 2002, §3.1).
[[nodiscard]] constexpr double rounding_of(Index operations) {
  const double part = static_cast<double>(operations) * unit_rounding;
  return part / (1 - part);
}

/// Compensated sum: carries the rounding errors of its additions, as if computed in twice the working precision (Ogita,
/// Rump and Oishi 2005). Its error is at most u times the sum plus γ_n² times the sum of the absolute values.
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    const double part = sum - sum_;
    rest_ += (sum_ - (sum - part)) + (term - part);
    sum_ = sum;
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    rest_ += std::fma(a, b, -product);
  }
  [[nodiscard]] double value() const { return sum_ + rest_; }
  /// Returns the negated sum.
  [[nodiscard]] CompensatedSum negated() const {
    CompensatedSum result;
    result.sum_ = -sum_;
    result.rest_ = -rest_;
    return result;
  }
  /// Whether all additions were exact.
  [[nodiscard]] bool exact() const { return rest_ == 0; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

}  // namespace widelimit
