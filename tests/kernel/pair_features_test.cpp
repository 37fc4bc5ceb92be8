#include "widelimit/kernel/label_aware/pair_features.hpp"

#include "tests/base/normal_rows.hpp"
#include "tests/kernel/label_aware_definition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace widelimit {
namespace {

/// Collects the features of a block from its parts, one row per feature.
Matrix<double> gathered(const PairFeatures& features, const PairBlock& block, MatrixView<const double> k,
                        const CoordinateSums& sums) {
  Matrix<double> all(features.count(), block.pairs());
  Index visited = 0;
  features.evaluate(block, k, sums, [&](Index first, MatrixView<double> part) {
    EXPECT_EQ(part.rows, features.count() + 1);
    EXPECT_EQ(first * block.cols.size(), visited);
    for (Index f = 0; f < all.rows(); ++f) std::copy_n(part.row(f), part.cols, all.view().row(f) + visited);
    visited += part.cols;
  });
  EXPECT_EQ(visited, block.pairs());
  return all;
}

/// Compares with the definition in long double. Squared distances are accurate to a few ε(‖x‖² + ‖x'‖²), cosines to a
/// few ε, hence angles and sines of nearly parallel or antipodal samples only to the square root of that.
void expect_definition(const Matrix<double>& x, const PairBlock& block, const Matrix<double>& found,
                       const Matrix<double>& k, const brute::Learned& learned) {
  constexpr Real few = 256 * 2.3e-16L;
  for (Index i = block.rows.begin; i < block.rows.end; ++i) {
    for (Index j = block.cols.begin; j < block.cols.end; ++j) {
      const std::vector<Real> a = brute::sample(x, i);
      const std::vector<Real> b = brute::sample(x, j);
      const Real theta = k(i - block.rows.begin, j - block.cols.begin);
      std::vector<Real> expected = brute::features(theta / 2, a, b, learned);
      const Real scale = 1 + brute::inner(a, a) + brute::inner(b, b);
      const Real sine = std::sqrt(std::max<Real>(0, 1 - expected[2] * expected[2]));
      const Real angle = std::min(few / std::max<Real>(sine, 1e-30L), std::sqrt(2 * few)) + few;
      // The correlation of constant samples is undefined; the library returns 0.
      if (!std::isfinite(expected[8])) expected[8] = 0;
      if (!std::isfinite(expected[5])) expected[5] = 0;
      const std::vector<Real> bounds{few * std::abs(theta),
                                     few * scale,
                                     few,
                                     few * scale,
                                     few * scale,
                                     angle,
                                     angle,
                                     few * scale,
                                     few,
                                     few * scale + few * static_cast<Real>(a.size())};
      for (std::size_t f = 0; f < bounds.size(); ++f) {
        const Index at = (i - block.rows.begin) * block.cols.size() + j - block.cols.begin;
        EXPECT_LE(std::abs(found(static_cast<Index>(f), at) - expected[f]), bounds[f])
            << "feature " << f << " of " << i << ", " << j;
      }
    }
  }
}

/// Odd sizes; includes equal, zero and antipodal samples.
TEST(PairFeatures, AreThoseOfTheDefinition) {
  for (const auto& [n, d] : {std::pair<Index, Index>{2, 1}, {37, 5}, {150, 37}}) {
    Matrix<double> x = normal_rows(n, d, 3);
    if (n > 30) {
      for (Index c = 0; c < d; ++c) {
        x(7, c) = x(2, c);
        x(8, c) = -x(2, c);
        x(9, c) = 0;
        x(20, c) = 0;
        x(21, c) = 1e3 * x(3, c);
        x(22, c) = -x(21, c);
      }
    }
    const SampleView view{x.view(), Shape{1, 1, d}};
    const auto engine = make_engine("cpu");
    const PairBasis basis = pair_basis(view, false, *engine, nullptr);
    const brute::Learned learned = brute::learn(x, 0);
    const PairSamples samples(view, basis);
    const PairFeatures features(basis, nullptr, samples, nullptr, 2);
    for (const PairBlock& block : {PairBlock{{0, n}, {0, n}}, PairBlock{{0, 1}, {n / 2, n}}, PairBlock{{1, 2}, {1, 2}},
                                   PairBlock{{n / 3, n}, {0, n - 1}}}) {
      const Matrix<double> k = normal_rows(block.rows.size(), block.cols.size(), 4);
      const auto sums = [&](bool distances) {
        const host::PairPanel left = features.left_panel(block.rows, distances);
        const host::PairPanel right = features.right_panel(block.cols, distances);
        if (distances) return PairFeatures::sums(left, right);
        return PairFeatures::sums(
            left, right,
            PairFeatures::sums(features.left_panel(block.rows, true), features.right_panel(block.cols, true))
                .distances);
      };
      expect_definition(x, block, gathered(features, block, k.view(), sums(true)), k, learned);
      expect_definition(x, block, gathered(features, block, k.view(), sums(false)), k, learned);
    }
  }
}

}  // namespace
}  // namespace widelimit
