#include "widelimit/kernel/classical/scaled_rows.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

Matrix<double> read(const SampleView& samples, std::string_view name) {
  return std::visit(
      [&](const auto& view) {
        if (view.cols != samples.shape.size()) {
          fail(Code::input, "{}: rows of {} values do not fit the shape {}", name, view.cols, to_string(samples.shape));
        }
        Matrix<double> values(view.rows, view.cols);
        for (Index i = 0; i < view.rows; ++i) {
          for (Index k = 0; k < view.cols; ++k) {
            const auto value = static_cast<double>(view(i, k));
            if (!std::isfinite(value)) {
              fail(Code::input, "{}: value {} of sample {} is not finite; remove or impute it", name, k, i);
            }
            values(i, k) = value;
          }
        }
        return values;
      },
      samples.values);
}

}  // namespace

ScaledRows::ScaledRows(const SampleView& samples, std::string_view name)
    : values_(read(samples, name)),
      unit_(values_.rows(), values_.cols()),
      exponents_(static_cast<std::size_t>(values_.rows()), 0),
      squares_(static_cast<std::size_t>(values_.rows()), 0.0) {
  for (Index i = 0; i < count(); ++i) {
    double largest = 0.0;
    for (Index k = 0; k < size(); ++k) largest = std::max(largest, std::abs(values_(i, k)));
    int exponent = 0;
    std::frexp(largest, &exponent);
    double square = 0.0;
    for (Index k = 0; k < size(); ++k) {
      unit_(i, k) = std::ldexp(values_(i, k), -exponent);
      square += unit_(i, k) * unit_(i, k);
    }
    exponents_[static_cast<std::size_t>(i)] = exponent;
    squares_[static_cast<std::size_t>(i)] = square;
  }
}

}  // namespace widelimit
