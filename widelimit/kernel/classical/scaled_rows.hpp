#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/samples.hpp"

#include <string_view>
#include <vector>

namespace widelimit {

/// One sample as the classical kernels read it: x = 2^exponent · unit, the largest |unit_k| in [½, 1).
struct ScaledRow {
  const double* values;  ///< x itself
  const double* unit;
  int exponent;
  double square;  ///< ‖unit‖², 0 for a zero row
  Index size;
};

/// Samples in double, beside a copy scaled row by row by a power of two (exact): inner products of scaled rows lie
/// within ±d whatever the scale of the data.
class ScaledRows {
 public:
  /// Error{input} names the sample and the feature that is not finite, or rows that do not fit their shape.
  ScaledRows(const SampleView& samples, std::string_view name);
  [[nodiscard]] Index count() const { return values_.rows(); }
  [[nodiscard]] Index size() const { return values_.cols(); }
  [[nodiscard]] const double* unit() const { return unit_.data(); }
  [[nodiscard]] ScaledRow operator[](Index i) const {
    const auto at = static_cast<std::size_t>(i);
    return {values_.data() + i * size(), unit_.data() + i * size(), exponents_[at], squares_[at], size()};
  }

 private:
  Matrix<double> values_;
  Matrix<double> unit_;
  std::vector<int> exponents_;
  std::vector<double> squares_;
};

}  // namespace widelimit
