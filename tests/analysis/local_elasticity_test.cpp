#include "widelimit/analysis/local_elasticity.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace widelimit {
namespace {

Matrix<double> four_by_four() {
  const std::vector<double> entries{4, 3, 1, 0, 3, 9, 2, 1.5, 1, 2, 1, 0.5, 0, 1.5, 0.5, 0.25};
  Matrix<double> k(4, 4);
  std::copy(entries.begin(), entries.end(), k.data());
  return k;
}

const std::vector<Index> pairs_of_two{0, 0, 1, 1};

/// K̄, hand-computed: (0,1) 3/6, (2,3) 0.5/0.5; (0,2) 1/2, (0,3) 0, (1,2) 2/3, (1,3) 1.5/1.5.
TEST(LocalElasticityOfKernels, IsTheRatioOfMeans) {
  const LocalElasticity found = local_elasticity(four_by_four().view(), pairs_of_two);
  EXPECT_NEAR(found.same, (0.5 + 1) / 2, 1e-15);
  EXPECT_NEAR(found.different, (0.5 + 0 + 2.0 / 3 + 1) / 4, 1e-15);
  EXPECT_NEAR(found.ratio, found.same / (found.same + found.different), 1e-15);
  const LocalElasticity with_self = local_elasticity(four_by_four().view(), pairs_of_two, true);
  EXPECT_NEAR(with_self.same, (2 * 0.5 + 2 * 1 + 4) / 8, 1e-15);
  EXPECT_EQ(with_self.different, found.different);
}

TEST(LocalElasticityOfKernels, IsOneHalfWhereLabelsDoNotMatter) {
  Matrix<float> ones(5, 5);
  std::fill_n(ones.data(), 25, 3.0F);
  EXPECT_EQ(local_elasticity(ones.view(), std::vector<Index>{0, 1, 2, 0, 1}).ratio, 0.5);
}

TEST(LocalElasticityOfKernels, OfTestPoints) {
  const Matrix<double> k = four_by_four();
  const std::vector<double> diagonal{4, 9, 1, 0.25};
  const MatrixView<const double> rows = k.view().block(0, 0, 2, 4);
  const std::vector<Index> labels{0, 0};
  const LocalElasticity found = local_elasticity(rows, labels, std::vector<double>{4, 9}, pairs_of_two, diagonal);
  EXPECT_NEAR(found.same, (1 + 0.5 + 0.5 + 1) / 4, 1e-15);
  EXPECT_NEAR(found.different, (0.5 + 0 + 2.0 / 3 + 1) / 4, 1e-15);
  // Equal diagonals cancel.
  const LocalElasticity plain = local_elasticity(rows, labels, {}, pairs_of_two, diagonal);
  const LocalElasticity equal = local_elasticity(rows, labels, std::vector<double>{7, 7}, pairs_of_two, diagonal);
  EXPECT_NEAR(plain.ratio, equal.ratio, 1e-15);
}

/// LA's code divides test rows of Θ + λZ by √Θ(x,x): hand-computed for Θ(x,x) = 1 and 16 with K(x,x) = 4 and 9.
TEST(LocalElasticityOfKernels, OffersThePublishedNormalisation) {
  const Matrix<double> k = four_by_four();
  const std::vector<double> diagonal{4, 9, 1, 0.25};
  const std::vector<double> own{4, 9};
  const std::vector<double> theta{1, 16};
  const MatrixView<const double> rows = k.view().block(0, 0, 2, 4);
  const std::vector<Index> labels{0, 0};
  const auto found = [&](bool published) {
    return label_aware_elasticity(rows, labels, TestDiagonals{own, theta, published}, pairs_of_two, diagonal);
  };
  EXPECT_EQ(found(false).ratio, local_elasticity(rows, labels, own, pairs_of_two, diagonal).ratio);
  const double same = (4.0 / 2 + 3.0 / 3 + 3.0 / 4 / 2 + 9.0 / 4 / 3) / 4;
  const double different = (1.0 + 0 + 2.0 / 4 + 1.5 / 4 / 0.5) / 4;
  EXPECT_NEAR(found(true).same, same, 1e-15);
  EXPECT_NEAR(found(true).different, different, 1e-15);
  EXPECT_THROW((void)label_aware_elasticity(rows, labels, TestDiagonals{own, {}, true}, pairs_of_two, diagonal), Error);
}

TEST(LocalElasticityOfKernels, RefusesWhatHasNoRatio) {
  const auto code = [](const Matrix<double>& k, const std::vector<Index>& labels) {
    try {
      (void)local_elasticity(k.view(), labels);
    } catch (const Error& error) {
      return error.code();
    }
    return Code{};
  };
  EXPECT_EQ(code(four_by_four(), {0, 0, 0, 0}), Code::input);
  EXPECT_EQ(code(four_by_four(), {0, 1, 2, 3}), Code::input);
  EXPECT_EQ(code(four_by_four(), {0, 1}), Code::input);
  Matrix<double> zero = four_by_four();
  zero(1, 1) = 0;
  EXPECT_EQ(code(zero, pairs_of_two), Code::input);
  Matrix<double> opposite = four_by_four();
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) opposite(i, j) = i == j ? 1 : -1;
  }
  EXPECT_EQ(code(opposite, pairs_of_two), Code::numerical);
}

}  // namespace
}  // namespace widelimit
