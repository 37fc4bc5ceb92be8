#include "widelimit/engine/cpu/algebra/band_pass.hpp"

#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace widelimit::cpu {
namespace {

/// Compares sums of up to 96 products of normal numbers with loops; sizes are no multiples of the vector length.
TEST(BandPass, IsOneBlockOfTheSubstitution) {
  constexpr Index width = 2 * band_pass_columns;
  const Matrix<double> g = normal_rows(width, width, 1);
  for (const Index rows : {1, 4, 7, 37}) {
    for (const Index block : {Index{1}, Index{5}, band_pass_columns, width}) {
      const Matrix<double> q = normal_rows(rows, block, 2), before = normal_rows(rows, width, 3);
      // Upper triangular, its columns padded with zeros.
      Matrix<double> d = normal_rows(block, width, 4);
      for (Index k = 0; k < block; ++k) {
        for (Index j = 0; j < width; ++j) d(k, j) *= j >= k && j < block ? 1 : 0;
      }
      for (const bool first : {true, false}) {
        Matrix<double> z(rows, width);
        std::vector<double> sums(static_cast<std::size_t>(rows), 0.5);
        band_pass(q.view(), d.view(), before.view().block(0, 0, rows, first ? 0 : width), g.view(), z.view(),
                  sums.data());
        for (Index i = 0; i < rows; ++i) {
          double square = 0.5;
          for (Index j = 0; j < width; ++j) {
            double expected = 0;
            for (Index k = 0; k < block; ++k) expected += q(i, k) * d(k, j);
            for (Index k = 0; k < width && !first; ++k) expected += before(i, k) * g(k, j);
            EXPECT_NEAR(z(i, j), expected, 1e-12) << rows << " " << block << " " << i << " " << j;
            square += expected * expected;
          }
          EXPECT_NEAR(sums[static_cast<std::size_t>(i)], square, 1e-12 * square);
        }
      }
    }
  }
}

}  // namespace
}  // namespace widelimit::cpu
