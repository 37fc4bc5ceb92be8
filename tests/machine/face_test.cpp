#include "widelimit/machine/svm/face.hpp"

#include "tests/machine/elimination.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

using test::Extended;

Face face_of(const Matrix<double>& q, bool equality) {
  Face face;
  const MatrixView<double> entries = face.open(q.rows());
  for (Index i = 0; i < q.rows(); ++i) std::copy_n(q.view().row(i), q.cols(), entries.row(i));
  face.factorise(equality);
  return face;
}

std::vector<double> waves(Index n) {
  std::vector<double> slope;
  for (Index i = 0; i < n; ++i) slope.push_back(std::sin(1.3 * static_cast<double>(i)) - 0.2);
  return slope;
}

/// Returns the minimum over the variables `kept` with the others fixed, by elimination in long double; one entry per
/// variable.
std::vector<double> minimum(const Matrix<double>& q, const std::vector<double>& slope, const std::vector<Index>& kept,
                            bool equality) {
  const std::size_t n = kept.size();
  test::Rows a(n + (equality ? 1 : 0), std::vector<Extended>(n + (equality ? 1 : 0)));
  std::vector<Extended> b(a.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i][j] = q(kept[i], kept[j]);
    b[i] = -slope[usize(kept[i])];
    if (equality) a[i][n] = a[n][i] = 1;
  }
  const std::vector<Extended> x = test::eliminate(a, b);
  std::vector<double> all(slope.size());
  for (std::size_t i = 0; i < n; ++i) all[usize(kept[i])] = static_cast<double>(x[i]);
  return all;
}

void expect_near(const std::vector<double>& ours, const std::vector<double>& theirs, double tolerance) {
  ASSERT_EQ(ours.size(), theirs.size());
  double largest = 0;
  for (const double value : theirs) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], tolerance * largest) << i;
}

/// Repeats every sample of a line_gram.
Matrix<double> repeated_gram(Index n) {
  const Matrix<double> single = test::line_gram<double>(n / 2);
  Matrix<double> q(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) q(i, j) = single(i / 2, j / 2);
  }
  return q;
}

// The nugget of 1e-3 bounds the condition number by 2e5 and rounding by 1e-10; more than two blocks of rows.
TEST(Face, FollowsTheMinimumAsVariablesLeave) {
  const Index n = 117;
  const Matrix<double> q = test::line_gram<double>(n);
  const std::vector<double> slope = waves(n);
  for (const bool equality : {false, true}) {
    Face face = face_of(q, equality);
    std::vector<Index> kept(usize(n));
    std::iota(kept.begin(), kept.end(), Index{0});
    for (const Index leaving : {-1, 57, 0, 116, 1, 58, 30, 90, 48, 96}) {
      if (leaving >= 0) {
        face.remove(leaving);
        std::erase(kept, leaving);
      }
      const FaceDirection direction = face.direction(slope);
      EXPECT_FALSE(direction.flat);
      expect_near(direction.by, minimum(q, slope, kept, equality), 1e-9);
      // The slope on the face at the minimum: 0, or a constant.
      const double level = slope[usize(kept[0])] + direction.change[usize(kept[0])];
      for (const Index i : kept) EXPECT_NEAR(slope[usize(i)] + direction.change[usize(i)], level, 1e-9);
      EXPECT_NEAR(equality ? 0 : level, 0, 1e-9);
    }
  }
}

TEST(Face, LetsCombinationsRestUntilTheyAreNeeded) {
  const Index n = 110;
  const Matrix<double> q = repeated_gram(n);
  std::vector<double> slope = waves(n);
  for (Index i = 1; i < n; i += 2) slope[usize(i)] = slope[usize(i - 1)];
  for (const bool equality : {false, true}) {
    Face face = face_of(q, equality);
    std::vector<Index> kept;
    for (Index i = 0; i < n; i += 2) kept.push_back(i);
    expect_near(face.direction(slope).by, minimum(q, slope, kept, equality), 1e-9);
    // The duplicate replaces the removed variable; then both are removed.
    for (const Index leaving : {0, 40, 108}) {
      face.remove(leaving);
      std::replace(kept.begin(), kept.end(), leaving, leaving + 1);
      const FaceDirection direction = face.direction(slope);
      EXPECT_FALSE(direction.flat);
      expect_near(direction.by, minimum(q, slope, kept, equality), 1e-9);
    }
    face.remove(41);
    std::erase(kept, Index{41});
    expect_near(face.direction(slope).by, minimum(q, slope, kept, equality), 1e-9);
  }
}

TEST(Face, FindsADirectionWithoutCurvature) {
  const Index n = 60;
  const Matrix<double> q = repeated_gram(n);
  std::vector<double> slope = waves(n);
  for (Index i = 1; i < n; i += 2) slope[usize(i)] = slope[usize(i - 1)] + (i == 21 ? 0.5 : 0);
  for (const bool equality : {false, true}) {
    Face face = face_of(q, equality);
    const FaceDirection direction = face.direction(slope);
    ASSERT_TRUE(direction.flat);
    std::vector<double> expected(usize(n));
    expected[20] = 1;
    expected[21] = -1;
    expect_near(direction.by, expected, 1e-9);
    EXPECT_FALSE(face.curves_down(direction.by, 0));
    face.remove(21);
    EXPECT_FALSE(face.direction(slope).flat);
  }
}

TEST(Face, SeesNegativeCurvature) {
  const Index n = 20;
  Matrix<double> q = test::line_gram<double>(n);
  q(13, 13) -= 1;
  const std::vector<double> slope = waves(n);
  for (const bool equality : {false, true}) {
    Face face = face_of(q, equality);
    const FaceDirection direction = face.direction(slope);
    ASSERT_TRUE(direction.flat);
    EXPECT_TRUE(face.curves_down(direction.by, 1e-12));
    EXPECT_LT(std::inner_product(slope.begin(), slope.end(), direction.by.begin(), 0.0), 0);
    const double sum = std::accumulate(direction.by.begin(), direction.by.end(), 0.0);
    EXPECT_NEAR(equality ? sum : 0, 0, 1e-12);
  }
}

TEST(Face, OfOneVariableHasNoDirectionWithTheEquality) {
  Matrix<double> q(1, 1);
  q(0, 0) = 2;
  const std::vector<double> slope{-3};
  EXPECT_TRUE(face_of(q, true).direction(slope).by.empty());
  EXPECT_DOUBLE_EQ(face_of(q, false).direction(slope).by[0], 1.5);
}

}  // namespace
}  // namespace widelimit
