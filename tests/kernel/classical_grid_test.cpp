#include "widelimit/kernel/classical/classical_grid.hpp"

#include "tests/base/random_graphs.hpp"
#include "widelimit/base/error.hpp"

#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

using Name = ClassicalKernel::Name;

/// Standardised features: columns with equally many 1 and −1.
Matrix<double> signs(Index n, Index d, double scale = 1) {
  Matrix<double> x(n, d);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) x(i, j) = (i + j) % 2 == 0 ? scale : -scale;
  }
  return x;
}

TEST(ClassicalGrid, OfStandardisedFeaturesIsThatOfArora) {
  const Matrix<double> x = signs(10, 8);
  const SampleView view{x.view(), Shape{1, 1, 8}};
  for (const Name name : {Name::rbf, Name::laplace}) {
    const auto grid = classical_grid(name, view);
    ASSERT_EQ(grid.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(*grid[i].gamma, std::pow(10.0, static_cast<double>(i) - 2) / 8, 1e-3 * *grid[i].gamma);
      EXPECT_EQ(ClassicalKernel::parse(grid[i].to_text()), grid[i]);
    }
  }
  const auto powers = classical_grid(Name::polynomial, view);
  ASSERT_EQ(powers.size(), 3U);
  EXPECT_EQ(*powers[0].gamma, 0.125);
  EXPECT_EQ(powers[2].degree, 4);
  EXPECT_EQ(classical_grid(Name::linear, view).size(), 1U);
  EXPECT_EQ(classical_grid(Name::arccosine, view).size(), 3U);
}

TEST(ClassicalGrid, FollowsTheScaleOfTheSamples) {
  const Matrix<double> small = signs(10, 8);
  const Matrix<double> large = signs(10, 8, 100);
  const auto first = [](Name name, const Matrix<double>& x) {
    return *classical_grid(name, {x.view(), Shape{1, 1, 8}})[0].gamma;
  };
  EXPECT_DOUBLE_EQ(first(Name::rbf, small), 1e4 * first(Name::rbf, large));
  EXPECT_DOUBLE_EQ(first(Name::laplace, small), 1e2 * first(Name::laplace, large));
  const Matrix<double> equal(10, 8);
  EXPECT_EQ(first(Name::rbf, equal), 0.01);
  const Matrix<double> huge = signs(10, 8, 1e200);
  EXPECT_THROW((void)first(Name::rbf, huge), Error);
}

TEST(ClassicalGrid, ReadsSparseSamplesAndRefusesGraphs) {
  Matrix<double> holed = normal_rows(20, 6, 4);
  for (Index i = 0; i < 120; i += 3) holed.data()[i] = 0;
  const SampleView dense{holed.view(), Shape{1, 1, 6}};
  const SparseMatrix stored = sparse_copy(dense);
  const SampleView sparse{stored.view(), Shape{1, 1, 6}};
  for (const Name name : {Name::rbf, Name::laplace, Name::polynomial}) {
    EXPECT_EQ(classical_grid(name, dense), classical_grid(name, sparse));
  }
  const Graphs graphs = test::random_graphs(3, 4, 1);
  EXPECT_THROW((void)classical_grid(Name::rbf, SampleView(graphs)), Error);
}

}  // namespace
}  // namespace widelimit
