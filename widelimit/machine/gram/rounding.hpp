#pragma once

#include "widelimit/base/types.hpp"

#include <cmath>

namespace widelimit {

/// u: one operation on float64 is right to a factor 1 + δ, |δ| ≤ u.
inline constexpr double unit_rounding = 0x1p-53;
/// An operation whose result is below the range of float64 is right to this.
inline constexpr double underflow_unit = 0x1p-1074;

/// γ_n = nu/(1 − nu): a sum of n products, in any order, is right to γ_n times the sum of their moduli (Higham 2002,
/// §3.1).
[[nodiscard]] constexpr double rounding_of(Index operations) {
  const double part = static_cast<double>(operations) * unit_rounding;
  return part / (1 - part);
}

/// A sum that carries what its additions round off, as if it were made in twice the precision (Ogita, Rump and Oishi
/// 2005): right to u times itself and γ_n² times the sum of the moduli.
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
  /// The sum of the terms with their signs changed.
  [[nodiscard]] CompensatedSum negated() const {
    CompensatedSum result;
    result.sum_ = -sum_;
    result.rest_ = -rest_;
    return result;
  }
  /// Whether no addition was rounded.
  [[nodiscard]] bool exact() const { return rest_ == 0; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

}  // namespace widelimit
