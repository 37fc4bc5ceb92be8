#include "widelimit/engine/host/absolute_distances.hpp"

#include "tests/kernel/normal_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

TEST(AbsoluteDistances, AreSumsOfDifferences) {
  for (const auto& [m, n, d] : {std::tuple(1, 1, 1), std::tuple(3, 5, 7), std::tuple(9, 6, 1030)}) {
    const Matrix<double> a = normal_rows(m, d, 1);
    const Matrix<double> b = normal_rows(n, d, 2);
    Matrix<double> out(m, n);
    host::absolute_distances(a.view(), b.view(), out.view());
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        long double sum = 0;
        for (Index k = 0; k < d; ++k) sum += std::abs(static_cast<long double>(a(i, k)) - b(j, k));
        EXPECT_NEAR(out(i, j), static_cast<double>(sum), 1e-13 * static_cast<double>(sum));
      }
    }
  }
}

}  // namespace
}  // namespace widelimit
