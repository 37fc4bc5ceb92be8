#include "widelimit/machine/sparse_machines.hpp"

#include "tests/machine/box_fixture.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/multiclass.hpp"

#include <gtest/gtest.h>

#include <array>

namespace widelimit {
namespace {

constexpr std::array<Scheme, 2> both_schemes{Scheme::one_vs_one, Scheme::one_vs_one_first};

/// Returns some columns of a Gram matrix: kernels of other points with the samples.
Matrix<double> kernels_of(const Matrix<double>& gram, Index begin, Index points, Index samples) {
  Matrix<double> k(points, samples);
  for (Index i = 0; i < points; ++i) {
    for (Index j = 0; j < samples; ++j) k(i, j) = gram(begin + i, j);
  }
  return k;
}

Matrix<double> corner(const Matrix<double>& gram, Index samples) { return kernels_of(gram, 0, samples, samples); }

TEST(SparseMachines, VoteAsTheirDecisionsDo) {
  const double lambdas[]{0.1, 1e-5, 3.0, 1e-4, 1e-6};  // unordered
  for (const auto& [classes, samples] : {std::pair<Index, Index>{3, 60}, {4, 8}, {13, 40}, {2, 12}}) {
    for (const Index points : {Index{1}, Index{64}, Index{65}, Index{130}}) {
      const Clouds data = clouds(samples + points, 1.0, 31);
      std::vector<Index> labels;
      for (Index i = 0; i < samples; ++i) labels.push_back((i * 7 + i / classes) % classes);
      for (Index c = 0; c < classes; ++c) labels[usize(c)] = c;
      const Matrix<double> gram = corner(data.gram, samples);
      const GramMatrix k(gram.view());
      const Matrix<double> cross = kernels_of(data.gram, samples, points, samples);
      const SvmOptions options{.bias = true};
      const SparseMachines machines = one_vs_one_machines(k, labels, classes, lambdas, options);
      const auto predicted = vote(machines, classes, k.algebra().hold(cross.view()), both_schemes, k.engine());
      const std::vector<Fit> fits = one_vs_one_path(k, labels, classes, lambdas, options);
      ASSERT_EQ(predicted.size(), std::size(lambdas));
      for (std::size_t l = 0; l < predicted.size(); ++l) {
        const Matrix<double> g = decision(fits[l], cross.view());
        for (std::size_t r = 0; r < both_schemes.size(); ++r) {
          EXPECT_EQ(predicted[l][r], vote(g.view(), classes, both_schemes[r])) << classes << " classes, lambda " << l;
        }
      }
    }
  }
}

TEST(SparseMachines, KeepASolutionOnceAsLambdaFalls) {
  const Index classes = 5;
  const Clouds data = clouds(40, 1.0, 6);
  std::vector<Index> labels;
  for (Index i = 0; i < 40; ++i) labels.push_back(i % classes);
  const double lambdas[]{1.0, 1e-6, 1e-7, 1e-8, 1e-9};
  const SparseMachines machines = one_vs_one_machines(data.gram.view(), labels, classes, lambdas, {.bias = true});
  for (std::size_t p = 0; p < machines.outputs(); ++p) {
    ASSERT_EQ(machines.stages(p).size(), 2U);  // a Gaussian kernel separates all samples
    EXPECT_EQ(machines.stages(p)[1].from, 1U);
    EXPECT_FALSE(machines.coefficients(p, machines.stages(p)[1]).empty());
  }
  EXPECT_GT(machines.summary(1).iterations, 0);
  for (std::size_t l = 2; l < 5; ++l) {
    EXPECT_EQ(machines.summary(l).iterations, 0);
    EXPECT_EQ(*machines.summary(l).gap, *machines.summary(1).gap);
    EXPECT_NEAR(*machines.summary(l).primal / lambdas[l], *machines.summary(1).primal / lambdas[1],
                1e-14 * *machines.summary(1).primal / lambdas[1]);
  }
}

TEST(SparseMachines, ClearOneLambdaOfSeveral) {
  const Clouds data = clouds(30, 1.0, 7);
  std::vector<Index> labels;
  for (Index i = 0; i < 30; ++i) labels.push_back(i % 3);
  const double lambdas[]{1.0, 1e-6, 1e-7, 1e-8};
  for (std::size_t cleared = 0; cleared < 4; ++cleared) {
    SparseMachines machines = one_vs_one_machines(data.gram.view(), labels, 3, lambdas, {.bias = true});
    const std::vector<Fit> before = machines.fits(all_processors());
    machines.clear(cleared);
    const std::vector<Fit> after = machines.fits(all_processors());
    for (std::size_t l = 0; l < 4; ++l) {
      for (Index i = 0; i < 30 * 3; ++i) {
        EXPECT_EQ(after[l].alpha.data()[i], l == cleared ? 0 : before[l].alpha.data()[i]);
      }
      EXPECT_EQ(after[l].bias, l == cleared ? std::vector<double>(3) : before[l].bias);
    }
  }
}

TEST(SparseMachines, OfAnIndefiniteMatrixAreZeroAndSayWhy) {
  Matrix<double> gram(6, 6);
  for (Index i = 0; i < 6; ++i) gram(i, i) = i == 4 ? -1 : 1;
  const std::vector<Index> labels{0, 1, 2, 0, 1, 2};
  const double lambdas[]{1.0, 0.1};
  for (const bool check : {false, true}) {
    const SparseMachines machines =
        one_vs_one_machines(gram.view(), labels, 3, lambdas, {.bias = true, .check_definite = check});
    for (const Fit& fit : machines.fits(all_processors())) {
      EXPECT_EQ(fit.summary.ending, Ending::not_positive_definite);
      EXPECT_NE(fit.summary.message.find("diagonal"), std::string::npos) << fit.summary.message;
      for (Index i = 0; i < 6 * 3; ++i) EXPECT_EQ(fit.alpha.data()[i], 0);
      EXPECT_EQ(fit.bias, std::vector<double>(3));
    }
  }
}

TEST(SparseMachines, RefuseKernelsOfOtherSamples) {
  const Clouds data = clouds(12, 1.0, 3);
  std::vector<Index> labels;
  for (Index i = 0; i < 12; ++i) labels.push_back(i % 3);
  const double lambda = 1;
  const GramMatrix k(data.gram.view());
  const SparseMachines machines = one_vs_one_machines(k, labels, 3, {&lambda, 1});
  const Matrix<double> fewer(2, 11);
  EXPECT_THROW((void)vote(machines, 3, k.algebra().hold(fewer.view()), both_schemes, k.engine()), Error);
  EXPECT_THROW((void)vote(machines, 4, k.matrix(), both_schemes, k.engine()), Error);
}

}  // namespace
}  // namespace widelimit
