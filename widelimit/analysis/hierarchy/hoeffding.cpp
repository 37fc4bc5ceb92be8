#include "widelimit/analysis/hierarchy/hoeffding.hpp"

#include "widelimit/base/interruption.hpp"

#include <cmath>

namespace widelimit {

std::array<double, 3> hoeffding_orders(MatrixView<const double> m, std::span<const double> y,
                                       std::span<const double> means) {
  if (m.rows != m.cols || std::ssize(y) != m.rows || std::ssize(means) != m.rows) {
    fail(Code::input, "a {} by {} matrix does not match {} labels and {} means", m.rows, m.cols, y.size(),
         means.size());
  }
  for (Index i = 0; i < m.rows; ++i) {
    if (std::abs(y[usize(i)]) != 1) fail(Code::input, "label {} is {}; it must be -1 or 1", i, y[usize(i)]);
    if (!(std::abs(means[usize(i)]) <= 1)) {
      fail(Code::input, "mean {} is {}; it must be between -1 and 1", i, means[usize(i)]);
    }
  }
  std::array<double, 3> orders{};
  interruptible_rows(m.rows, m.cols, [&](Index i) {
    const double mean = means[usize(i)];
    const double deviation = y[usize(i)] - mean;
    for (Index j = 0; j < m.cols; ++j) {
      if (i == j) {
        orders[0] += m(i, i);
        continue;
      }
      const double other = means[usize(j)];
      orders[0] += m(i, j) * mean * other;
      orders[1] += m(i, j) * (deviation * other + mean * (y[usize(j)] - other));
      orders[2] += m(i, j) * deviation * (y[usize(j)] - other);
    }
  });
  return orders;
}

}  // namespace widelimit
