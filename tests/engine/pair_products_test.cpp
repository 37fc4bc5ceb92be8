#include "widelimit/engine/host/pair_products.hpp"

#include "tests/base/normal_rows.hpp"
#include "widelimit/engine/host/angle_pass.hpp"
#include "widelimit/engine/host/row_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {
namespace {

using host::PairPanel;
constexpr double unit = std::numeric_limits<double>::epsilon() / 2;

std::vector<double> means_of(const Matrix<double>& x) {
  std::vector<double> means;
  for (Index i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (Index k = 0; k < x.cols(); ++k) sum += x(i, k);
    means.push_back(sum / static_cast<double>(x.cols() + 1));
  }
  return means;
}

struct Sums {
  Matrix<double> products, distances, alone;
};

Sums sums_of(const Matrix<double>& a, const Matrix<double>& b) {
  const std::vector<double> left = means_of(a);
  const std::vector<double> right = means_of(b);
  const auto panel = [](const Matrix<double>& x, const std::vector<double>& means, PairPanel::Side side,
                        bool distances) { return PairPanel(x.view(), means.data(), side, distances); };
  const auto filled = [&] {
    Matrix<double> m(a.rows(), b.rows());
    for (Index i = 0; i < m.rows() * m.cols(); ++i) m.data()[i] = -77;  // must be overwritten
    return m;
  };
  Sums sums{filled(), filled(), filled()};
  host::pair_products(panel(a, left, PairPanel::Side::left, true), panel(b, right, PairPanel::Side::right, true),
                      sums.products.view(), sums.distances.view());
  host::pair_products(panel(a, left, PairPanel::Side::left, false), panel(b, right, PairPanel::Side::right, false),
                      sums.alone.view());
  return sums;
}

/// Compares with sums in long double, within the bounds for h additions: 130 + d/128 by parts, and one per product.
void expect_sums(const Matrix<double>& a, const Matrix<double>& b) {
  const Sums found = sums_of(a, b);
  const std::vector<double> left = means_of(a);
  const std::vector<double> right = means_of(b);
  const double h = 132 + static_cast<double>(a.cols()) / 128;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.rows(); ++j) {
      long double distance = 0;
      long double product = 0;
      long double magnitude = 0;
      long double norms = 0;
      for (Index k = 0; k < a.cols(); ++k) {
        const long double x = a(i, k);
        const long double y = b(j, k);
        const long double term = (x - left[usize(i)]) * (y - right[usize(j)]);
        distance += std::abs(x - y);
        product += term;
        magnitude += std::abs(term);
        norms += std::abs(x) + std::abs(y);
      }
      const auto near = [&](double number, long double expected, long double bound) {
        EXPECT_LE(std::abs(number - expected), bound) << a.rows() << " " << b.rows() << " " << a.cols() << ": " << i;
      };
      near(found.distances(i, j), distance, 3 * h * unit * norms);
      near(found.products(i, j), product, (h + 3) * unit * magnitude);
      EXPECT_EQ(found.alone(i, j), found.products(i, j));
      EXPECT_GE(found.distances(i, j), 0);
    }
  }
}

/// Sizes around groups of 3 and 16 rows and parts of 128 coordinates.
TEST(PairProducts, AreTheSumsOverCoordinates) {
  for (const Index d : {1, 7, 37, 128, 129, 300}) {
    for (const Index m : {1, 2, 3, 37}) {
      for (const Index n : {1, 15, 16, 37}) expect_sums(normal_rows(m, d, 1), normal_rows(n, d, 2));
    }
  }
  expect_sums(normal_rows(5, 3 * 784, 3), normal_rows(17, 3 * 784, 4));
  expect_sums(normal_rows(4, 0, 1), normal_rows(5, 0, 2));
}

TEST(PairProducts, TakeNoRows) {
  for (const auto& [m, n] : {std::pair<Index, Index>{0, 4}, {4, 0}, {0, 0}}) {
    const Sums found = sums_of(normal_rows(m, 9, 1), normal_rows(n, 9, 2));
    EXPECT_EQ(found.distances.rows() * found.distances.cols(), 0);
  }
}

/// Far from 0, sums of maxima lose the digits of small differences; for equal rows the result is exact.
TEST(PairProducts, EqualZeroAndOppositeRows) {
  for (const Index d : {5, 131, 784}) {
    Matrix<double> x = normal_rows(19, d, 5);
    for (Index k = 0; k < d; ++k) {
      x(1, k) = x(0, k);
      x(2, k) = -x(0, k);
      x(3, k) = 0;
      x(17, k) = 0;
      x(4, k) = 1e6 + x(0, k) / 3;
      x(18, k) = x(4, k);
    }
    expect_sums(x, x);
    const Sums found = sums_of(x, x);
    for (Index i = 0; i < 19; ++i) EXPECT_EQ(found.distances(i, i), 0);
    EXPECT_EQ(found.distances(0, 1), 0);
    EXPECT_EQ(found.distances(1, 0), 0);
    EXPECT_EQ(found.distances(3, 17), 0);
    EXPECT_EQ(found.distances(4, 18), 0);
    EXPECT_EQ(found.distances(18, 4), 0);
  }
}

/// A block is bit-identical to the same part of the whole: sums of a pair do not depend on other rows.
TEST(PairProducts, DoNotDependOnTheRowsBeside) {
  const Matrix<double> a = normal_rows(11, 141, 6);
  const Matrix<double> b = normal_rows(37, 141, 7);
  const Sums whole = sums_of(a, b);
  Matrix<double> one(1, 141);
  Matrix<double> other(1, 141);
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {10, 36}, {4, 17}}) {
    std::copy_n(a.view().row(i), 141, one.data());
    std::copy_n(b.view().row(j), 141, other.data());
    const Sums alone = sums_of(one, other);
    EXPECT_EQ(alone.distances(0, 0), whole.distances(i, j));
    EXPECT_EQ(alone.products(0, 0), whole.products(i, j));
  }
}

TEST(RowMoments, AreSumsOfProductsOverAllParts) {
  for (const Index p : {1, 2, 3, 4, 11, 21}) {
    host::RowMoments moments(p);
    std::vector<long double> expected(usize(p * p), 0);
    std::vector<long double> magnitude(usize(p * p), 0);
    Index seed = 0;
    for (const Index size : {0, 1, 7, 8, 37, 256}) {
      const Matrix<double> part = normal_rows(p, size, static_cast<std::uint64_t>(++seed));
      moments.add(part.view());
      for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j < p; ++j) {
          for (Index k = 0; k < size; ++k) {
            const long double term = static_cast<long double>(part(i, k)) * part(j, k);
            expected[usize(i * p + j)] += term;
            magnitude[usize(i * p + j)] += std::abs(term);
          }
        }
      }
    }
    const std::vector<double> found = moments.values();
    ASSERT_EQ(found.size(), expected.size());
    // Sums of 309 products, which round once per addition.
    for (std::size_t k = 0; k < found.size(); ++k)
      EXPECT_LE(std::abs(found[k] - expected[k]), 310 * unit * magnitude[k]) << p << ": " << k;
  }
}

/// For given products: parallel, antipodal and orthogonal samples, and a width at which exponentials underflow.
TEST(AnglePass, IsRightToAFewUnits) {
  const std::vector<double> cosines{1, 1 - 1e-15, 1 - 1e-9, 0.7, 1e-9, 0, -1e-9, -0.5, -1 + 1e-9, -1 + 1e-15, -1};
  const Index n = std::ssize(cosines);
  const double norm = 3;
  const std::vector<double> norms(usize(n), norm), squares(usize(n), norm * norm), means(usize(n), 1.0);
  const std::vector<double> inverses(usize(n), 1 / norm);
  const host::AngleSide side{norms.data(), squares.data(), means.data(), inverses.data()};
  std::vector<double> products;
  for (const double cosine : cosines) products.push_back(norm * norm * cosine);
  // Means of 1 cancel the constant; a length of 0 removes the means.
  for (const double width : {10.0, 0.01}) {
    std::vector<std::vector<double>> out(8, std::vector<double>(usize(n)));
    host::angle_pass(side, 0, side, 0, n, 0, width,
                     {products.data(), out[0].data(), out[1].data(), out[2].data(), out[3].data(), out[4].data(),
                      out[5].data(), out[6].data(), out[7].data()});
    for (std::size_t k = 0; k < cosines.size(); ++k) {
      const long double cosine = out[1][k];
      const long double square = out[2][k];
      EXPECT_NEAR(out[1][k], cosines[k], 4 * unit);
      EXPECT_NEAR(out[2][k], 2 * norm * norm * (1 - cosines[k]), 16 * unit * norm * norm);
      EXPECT_EQ(out[3][k], norm * norm);
      EXPECT_NEAR(out[4][k], static_cast<double>(std::sqrt((1 - cosine) * (1 + cosine))), 4 * unit);
      EXPECT_NEAR(out[5][k], static_cast<double>(std::acos(cosine)), 8 * unit * (0.1 + out[5][k])) << cosines[k];
      const long double radial = std::exp(-square / width);
      EXPECT_LE(std::abs(out[6][k] - radial), 4 * unit * (1 + square / width) * radial + 1e-307) << cosines[k];
      EXPECT_NEAR(out[7][k], cosines[k], 6 * unit);
    }
  }
}

}  // namespace
}  // namespace widelimit
