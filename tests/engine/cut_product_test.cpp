#include "widelimit/engine/cpu/algebra/cut_product.hpp"

#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace widelimit {
namespace {

std::vector<double> numbers(Index count, std::uint64_t stream) {
  std::vector<double> values(static_cast<std::size_t>(count));
  Random(3, stream).normals(0, count, 1.0, values.data());
  return values;
}

template <typename T>
MatrixView<const T> rows_of(const std::vector<T>& values, Index rows, Index cols) {
  return {values.data(), rows, cols, cols};
}

TEST(Gemm, IsTheSumOfProductsInEveryOrientation) {
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{1, 1, 1}, {37, 2, 5}, {2, 37, 0}, {130, 129, 200}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const std::vector<double> a = numbers(m * k, 1);
        const std::vector<double> b = numbers(k * n, 2);
        std::vector<double> c = numbers(m * n, 4);
        const std::vector<double> before = c;
        cpu::cut_product<double>(2.0, ta ? Transpose::yes : Transpose::no, rows_of(a, ta ? k : m, ta ? m : k),
                                 tb ? Transpose::yes : Transpose::no, rows_of(b, tb ? n : k, tb ? k : n), 0.5,
                                 {c.data(), m, n, n}, 2);
        for (Index i = 0; i < m; ++i) {
          for (Index j = 0; j < n; ++j) {
            double sum = 0.5 * before[static_cast<std::size_t>(i * n + j)];
            for (Index l = 0; l < k; ++l) {
              sum += 2.0 * a[static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                     b[static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
            }
            // k products of normals, each rounded at most twice.
            ASSERT_NEAR(c[static_cast<std::size_t>(i * n + j)], sum, 1e-14 * static_cast<double>(k + 1)) << m << n << k;
          }
        }
      }
    }
  }
}

TEST(Gemm, DoesNotKnowHowManyThreadsThereAre) {
  for (const auto& [m, n] : {std::pair<Index, Index>{128, 1500}, {1500, 128}}) {
    const Index k = 300;
    const std::vector<double> wide_a = numbers(m * k, 1);
    const std::vector<double> wide_b = numbers(k * n, 2);
    const std::vector<float> a(wide_a.begin(), wide_a.end());
    const std::vector<float> b(wide_b.begin(), wide_b.end());
    std::vector<float> one(static_cast<std::size_t>(m * n));
    std::vector<float> five(static_cast<std::size_t>(m * n));
    const auto multiply = [&, m = m, n = n](std::vector<float>& c, int threads) {
      cpu::cut_product<float>(1, Transpose::no, rows_of(a, m, k), Transpose::no, rows_of(b, k, n), 0,
                              {c.data(), m, n, n}, threads);
    };
    multiply(one, 1);
    multiply(five, 5);
    EXPECT_EQ(one, five);
  }
}

}  // namespace
}  // namespace widelimit
