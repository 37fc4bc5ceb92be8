#include "widelimit/analysis/spectrum.hpp"

#include "tests/base/thrown.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace widelimit {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <typename T, typename Entry>
Matrix<T> filled(Index n, const Entry& entry) {
  Matrix<T> matrix(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) matrix(i, j) = static_cast<T>(entry(i, j));
  }
  return matrix;
}

/// 2 on the diagonal, −1 on the off-diagonals: λ_k = 2 − 2cos(kπ/(n+1)).
double second_difference(Index i, Index j) { return i == j ? 2.0 : (std::abs(i - j) == 1 ? -1.0 : 0.0); }

double second_difference_eigenvalue(Index k, Index n) {
  return 2 - 2 * std::cos(static_cast<double>(k) * std::numbers::pi / static_cast<double>(n + 1));
}

TEST(Eigenvalues, OfTheSecondDifference) {
  for (const Index n : {1, 2, 37, 200}) {
    const auto values = eigenvalues(filled<double>(n, second_difference));
    ASSERT_EQ(std::ssize(values), n);
    for (Index k = 1; k <= n; ++k) {
      EXPECT_NEAR(values[static_cast<std::size_t>(n - k)], second_difference_eigenvalue(k, n),
                  4 * epsilon * static_cast<double>(n));
    }
  }
}

TEST(Eigenvalues, OfNothingAndOfZero) {
  EXPECT_TRUE(eigenvalues(Matrix<double>(0, 0)).empty());
  EXPECT_EQ(eigenvalues(Matrix<float>(3, 3)), std::vector<double>(3, 0.0));
}

TEST(Eigenvalues, ScaleWithTheMatrix) {
  for (const double scale : {1e-300, 1e150, 1e300}) {
    const auto values =
        eigenvalues(filled<double>(5, [&](Index i, Index j) { return scale * second_difference(i, j); }));
    for (Index k = 1; k <= 5; ++k) {
      EXPECT_NEAR(values[static_cast<std::size_t>(5 - k)] / scale, second_difference_eigenvalue(k, 5), 1e-14);
    }
  }
}

TEST(Eigenvalues, RefuseWhatHasNone) {
  EXPECT_EQ(thrown_code([] { (void)eigenvalues(Matrix<double>(2, 3)); }), Code::usage);
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(
        thrown_code([&] { (void)eigenvalues(filled<double>(2, [&](Index i, Index) { return i == 1 ? bad : 1.0; })); }),
        Code::input);
  }
}

TEST(Spectrum, ConditionOfADiagonal) {
  const Spectrum found = spectrum(filled<double>(4, [](Index i, Index j) { return i == j ? std::pow(10.0, i) : 0.0; }));
  ASSERT_TRUE(found.condition.has_value());
  EXPECT_NEAR(*found.condition, 1000.0, 1e-9);
  EXPECT_TRUE(found.note.empty());
  EXPECT_EQ(found.sampled, 4);
}

TEST(Spectrum, NoConditionWhereRankIsMissing) {
  EXPECT_FALSE(spectrum(filled<float>(37, [](Index i, Index j) { return (i + 1) * (j + 1); })).condition);
  EXPECT_FALSE(spectrum(Matrix<double>(2, 2)).condition);
}

TEST(Spectrum, EffectiveDimension) {
  EXPECT_NEAR(spectrum(filled<double>(37, [](Index i, Index j) { return i == j; })).effective_dimension, 37, 1e-10);
  EXPECT_NEAR(spectrum(filled<double>(37, [](Index, Index) { return 1; })).effective_dimension, 1, 1e-10);
  EXPECT_EQ(spectrum(Matrix<double>(3, 3)).effective_dimension, 0);
}

/// Every principal submatrix of the all-ones matrix of m rows has the eigenvalues m, 0, …
TEST(Spectrum, TakesASubsetOfMany) {
  const Spectrum found =
      spectrum(filled<double>(50, [](Index, Index) { return 1; }), {.most = 40, .subset = 20, .seed = 3});
  ASSERT_EQ(found.eigenvalues.size(), 20U);
  EXPECT_NEAR(found.eigenvalues[0], 20, 1e-12);
  EXPECT_NEAR(found.eigenvalues[1], 0, 1e-12);
  EXPECT_EQ(found.of, 50);
  EXPECT_NE(found.note.find("20 of the 50"), std::string::npos);
}

TEST(Alignment, IsOneForTheTargetsThemselves) {
  const std::vector<Index> two{0, 1, 1, 0, 1};
  const auto same = [&](Index i, Index j) {
    return two[static_cast<std::size_t>(i)] == two[static_cast<std::size_t>(j)] ? 1.0 : -1.0;
  };
  EXPECT_NEAR(alignment(filled<double>(5, same), class_targets(two, 2)), 1.0, 1e-14);
  // The constant kernel: (Σy)²/n² with Σy = 1.
  EXPECT_NEAR(alignment(filled<float>(5, [](Index, Index) { return 7; }), class_targets(two, 2)), 1.0 / 25, 1e-14);
}

TEST(Alignment, OfSeveralClasses) {
  const std::vector<Index> three{0, 1, 2, 0, 1, 2};
  const auto targets = class_targets(three, 3);
  // ⟨I, YYᵀ⟩ = 6, ‖I‖ = √6, ‖YYᵀ‖ = √(3·2²).
  const auto identity = [](Index i, Index j) { return i == j ? 1e200 : 0.0; };
  EXPECT_NEAR(alignment(filled<double>(6, identity), targets), 6 / (std::sqrt(6.0) * std::sqrt(12.0)), 1e-14);
  EXPECT_EQ(alignment(Matrix<double>(6, 6), targets), 0.0);
  EXPECT_EQ(thrown_code([&] { (void)alignment(Matrix<double>(5, 5), targets); }), Code::usage);
  EXPECT_EQ(thrown_code([&] { (void)class_targets(three, 2); }), Code::usage);
}

TEST(NeighbourAccuracy, OfPointsOnALine) {
  const std::vector<double> points{0, 1, 10, 11, 2.5};
  const auto linear = [&](Index i, Index j) {
    return points[static_cast<std::size_t>(i)] * points[static_cast<std::size_t>(j)];
  };
  const AnyMatrix gram = filled<double>(5, linear);
  EXPECT_NEAR(neighbour_accuracy(gram, std::vector<Index>{0, 0, 1, 1, 0}), 1.0, 0);
  EXPECT_NEAR(neighbour_accuracy(gram, std::vector<Index>{0, 0, 1, 1, 1}), 0.8, 1e-15);
  EXPECT_EQ(neighbour_accuracy(Matrix<double>(1, 1), std::vector<Index>{0}), 0.0);
}

}  // namespace
}  // namespace widelimit
