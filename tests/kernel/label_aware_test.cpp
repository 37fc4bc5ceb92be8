#include "widelimit/kernel/label_aware/label_aware.hpp"

#include "tests/kernel/label_aware_definition.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/file/write_gram.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace widelimit {
namespace {

Matrix<double> test_kernel(const Problem& problem, const LabelAwareOptions& options, const Engine& engine) {
  const GramMatrix k(problem.k.view(), engine);
  const LabelAware aware = fit_label_aware(k, problem.sources(), problem.labels, problem.classes, options);
  aware.validate();
  AnyMatrix result = problem.k_test.copy();
  (void)add_label_aware(aware, KernelPart::test, result, problem.sources(), engine);
  return std::move(std::get<Matrix<double>>(result));
}

/// Largest difference relative to the largest change of an entry.
double apart(const Matrix<double>& found, const Rows& expected, const Matrix<double>& before) {
  Real difference = 0;
  Real change = 0;
  for (Index i = 0; i < found.rows(); ++i) {
    for (Index j = 0; j < found.cols(); ++j) {
      difference = std::max(difference, std::abs(found(i, j) - expected[usize(i)][usize(j)]));
      change = std::max(change, std::abs(expected[usize(i)][usize(j)] - before(i, j)));
    }
  }
  return static_cast<double>(difference / change);
}

/// The features scaled to unit length have a condition number κ below 1e4 here; normal equations lose at most κ²ε ≈
/// 2e-8.
TEST(LabelAwareKernel, LinearRegressionIsThatOfTheWholeDesign) {
  const auto engine = make_engine("cpu");
  for (const Index classes : {2, 3}) {
    const Problem problem(37, 9, 8, classes);
    for (const Index components : {0, 5}) {
      for (const PairTarget target : {PairTarget::same, PairTarget::opposite}) {
        const Matrix<double> found =
            test_kernel(problem,
                        {.method = components > 0 ? LabelAwareMethod::linear2 : LabelAwareMethod::linear1,
                         .target = target,
                         .ratio = 0.3},
                        *engine);
        const Rows expected = brute::linear(problem, components, target == PairTarget::same ? 0 : -1, 0.3L);
        EXPECT_LT(apart(found, expected, problem.k_test), 2e-8) << classes << " " << components;
      }
    }
  }
}

TEST(LabelAwareKernel, KernelRegressionIsTheWeightedMeanOverAllPairs) {
  const auto engine = make_engine("cpu");
  for (const Index classes : {2, 3}) {
    const Problem problem(33, 12, 6, classes);
    for (const PairTarget target : {PairTarget::same, PairTarget::opposite}) {
      const Rows z = brute::targets(problem, target == PairTarget::same ? 0 : -1);
      const LabelAwareOptions first{.method = LabelAwareMethod::kr1, .target = target};
      EXPECT_LT(apart(test_kernel(problem, first, *engine), brute::smoothed(problem, z, 0.1L), problem.k_test), 1e-12);
      const LabelAwareOptions second{.method = LabelAwareMethod::kr2, .target = target};
      EXPECT_LT(apart(test_kernel(problem, second, *engine),
                      brute::smoothed(problem, brute::between_inverses(problem, z), 0.1L), problem.k_test),
                1e-9);
    }
  }
}

/// The reference engine computes in long double; the number of samples exceeds a strip.
TEST(LabelAwareKernel, EnginesAgreeAndThreadsChangeNoBit) {
  const Problem problem(300, 140, 5, 3);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear2, LabelAwareMethod::kr1, LabelAwareMethod::fjlt1}) {
    const LabelAwareOptions options{.method = method, .distortion = 0.05};
    const Matrix<double> one = test_kernel(problem, options, *make_engine("cpu", {.threads = 1}));
    const Matrix<double> four = test_kernel(problem, options, *make_engine("cpu", {.threads = 4}));
    EXPECT_TRUE(std::equal(one.data(), one.data() + one.rows() * one.cols(), four.data())) << to_string(method);
    const Matrix<double> reference = test_kernel(problem, options, *make_engine("reference"));
    for (Index i = 0; i < one.rows() * one.cols(); ++i) {
      EXPECT_NEAR(one.data()[i], reference.data()[i], 1e-8 * std::abs(one.data()[i]) + 1e-9) << to_string(method);
    }
  }
}

TEST(LabelAwareKernel, IsSymmetricAndTheTestRowOfATrainingSampleIsItsOwn) {
  const auto engine = make_engine("cpu");
  const Problem problem(290, 3, 5, 2);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear1, LabelAwareMethod::linear2, LabelAwareMethod::kr1}) {
    const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 2,
                                             {.method = method, .ratio = 0.5});
    AnyMatrix whole = problem.k.copy();
    (void)add_label_aware(aware, KernelPart::train, whole, problem.sources(), *engine);
    const auto& k = std::get<Matrix<double>>(whole);
    EXPECT_EQ(GramMatrix(k).asymmetry(), 0);
    AnyMatrix again = problem.k.copy();
    (void)add_label_aware(aware, KernelPart::test, again, {problem.view(), problem.view()}, *engine);
    const auto& rows = std::get<Matrix<double>>(again);
    for (Index i = 0; i < 290; i += 17) {
      // The angle between a sample and its copy is accurate to √ε only.
      for (Index j = 0; j < 290; ++j) EXPECT_NEAR(k(i, j), rows(i, j), 1e-6) << i << " " << j;
    }
  }
}

/// For training samples, equals the diagonal of their matrix.
TEST(LabelAwareKernel, DiagonalOfSamplesIsThatOfTheirMatrix) {
  const auto engine = make_engine("cpu");
  const Problem problem(150, 2, 5, 3);
  std::vector<double> theta;
  for (Index i = 0; i < 150; ++i) theta.push_back(problem.k(i, i));
  for (const LabelAwareMethod method : {LabelAwareMethod::linear2, LabelAwareMethod::kr1}) {
    AnyMatrix whole = problem.k.copy();
    const LabelAwareKernels made =
        make_label_aware(whole, nullptr, problem.sources(), problem.labels, 3, {.method = method}, *engine);
    const std::vector<double> own = label_aware_diagonal(made.aware, theta, problem.view());
    for (Index i = 0; i < 150; ++i) {
      const double entry = std::get<Matrix<double>>(whole)(i, i);
      EXPECT_NEAR(own[usize(i)], entry, 1e-13 * std::abs(entry));
    }
  }
}

/// In place, Z is evaluated once and stored in the lower triangle until λ is known; fitted first and added later, it is
/// evaluated twice. Both compute the same sums in a different order.
TEST(LabelAwareKernel, InPlaceIsWhatIsLearnedAndAdded) {
  const Problem problem(390, 2, 5, 3);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear1, LabelAwareMethod::kr1}) {
    for (const int threads : {1, 3}) {
      const auto engine = make_engine("cpu", {.threads = threads});
      AnyMatrix added = problem.k.copy();
      const LabelAware aware =
          fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 3, {.method = method});
      const Index beyond = add_label_aware(aware, KernelPart::train, added, problem.sources(), *engine);
      AnyMatrix whole = problem.k.copy();
      const LabelAwareKernels made =
          make_label_aware(whole, nullptr, problem.sources(), problem.labels, 3, {.method = method}, *engine);
      EXPECT_EQ(made.beyond, beyond);
      EXPECT_NEAR(made.aware.lambda, aware.lambda, 1e-13 * aware.lambda);
      const auto& k = std::get<Matrix<double>>(whole);
      EXPECT_EQ(GramMatrix(k).asymmetry(), 0);
      for (Index i = 0; i < 390 * 390; ++i) {
        ASSERT_NEAR(k.data()[i], std::get<Matrix<double>>(added).data()[i], 1e-13 * std::abs(k.data()[i]) + 1e-15);
      }
    }
  }
}

/// λ by definition: the magnitude of the label-aware part is `ratio` times that of the kernel.
TEST(LabelAwareKernel, RatioIsThatOfMeanMagnitudes) {
  const auto engine = make_engine("cpu");
  const Problem problem(150, 2, 4, 3);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear1, LabelAwareMethod::kr1, LabelAwareMethod::kr2}) {
    const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 3,
                                             {.method = method, .ratio = 0.25});
    AnyMatrix whole = problem.k.copy();
    (void)add_label_aware(aware, KernelPart::train, whole, problem.sources(), *engine);
    double kernel = 0;
    double added = 0;
    for (Index i = 0; i < 150 * 150; ++i) {
      kernel += std::abs(problem.k.data()[i]);
      added += std::abs(std::get<Matrix<double>>(whole).data()[i] - problem.k.data()[i]);
    }
    EXPECT_NEAR(added / kernel, 0.25, 1e-12) << to_string(method);
  }
}

/// Signed targets are 2·same − 1, and a weighted mean is linear.
TEST(LabelAwareKernel, SignedKernelRegressionIsTwiceTheOtherLessOne) {
  const auto engine = make_engine("cpu");
  const Problem problem(60, 2, 4, 4);
  const auto smoother = [&](PairTarget target) {
    return std::get<PairSmoother>(fit_label_aware({problem.k.view(), *engine}, {}, problem.labels, 4,
                                                  {.method = LabelAwareMethod::kr1, .target = target})
                                      .estimate);
  };
  const PairSmoother same = smoother(PairTarget::same);
  const PairSmoother sign = smoother(PairTarget::opposite);
  for (Index i = 0; i < 60; ++i) EXPECT_NEAR(sign(problem.k(0, i)), 2 * same(problem.k(0, i)) - 1, 1e-12);
}

TEST(LabelAwareKernel, ASketchIsNearlyAsGoodAsAllPairs) {
  const auto engine = make_engine("cpu");
  const Problem problem(120, 2, 6, 2);
  const auto explained = [&](LabelAwareMethod method) {
    const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 2,
                                             {.method = method, .ratio = 1});
    AnyMatrix whole = problem.k.copy();
    (void)add_label_aware(aware, KernelPart::train, whole, problem.sources(), *engine);
    double rest = 0;
    for (Index i = 0; i < 120; ++i) {
      for (Index j = 0; j < 120; ++j) {
        const double z = (std::get<Matrix<double>>(whole)(i, j) - problem.k(i, j)) / aware.lambda;
        const double target = problem.labels[usize(i)] == problem.labels[usize(j)] ? 1 : -1;
        rest += (z - target) * (z - target);
      }
    }
    return 1 - rest / (120.0 * 120.0);
  };
  for (const auto& [exact, sketch] : {std::pair(LabelAwareMethod::linear1, LabelAwareMethod::fjlt1),
                                      std::pair(LabelAwareMethod::linear2, LabelAwareMethod::fjlt2)}) {
    const double best = explained(exact);
    EXPECT_GT(best, 0.3);
    const double found = explained(sketch);
    EXPECT_LE(found, best + 1e-9);
    // Residuals of a sketch with ε = 0.01 exceed the minimum by a factor of 1 + O(ε).
    EXPECT_LT(1 - found, 1.05 * (1 - best));
  }
}

/// Rows of unit norm make four of the features identical: checks the minimum-norm solution and the rank.
TEST(LabelAwareKernel, RedundantFeaturesDoNoHarm) {
  const auto engine = make_engine("cpu");
  Problem problem(50, 4, 6, 2);
  for (Index i = 0; i < 50; ++i) {
    double square = 0;
    for (Index k = 0; k < 6; ++k) square += problem.x(i, k) * problem.x(i, k);
    for (Index k = 0; k < 6; ++k) problem.x(i, k) /= std::sqrt(square);
  }
  const LabelAware aware =
      fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 2, {.ratio = 0.1});
  const auto& regression = std::get<PairRegression>(aware.estimate);
  EXPECT_LT(regression.rank, 10);
  EXPECT_GT(regression.rank, 4);
  EXPECT_GT(regression.explained, 0.3);
}

TEST(LabelAwareKernel, TakesFeaturesOfTheCaller) {
  const auto engine = make_engine("cpu");
  const Problem problem(140, 5, 4, 2);
  // One of the features is the target itself, so the fit is exact. A sample is identified by its first value.
  std::map<double, Index> label;
  for (Index i = 0; i < 140; ++i) label[problem.x(i, 0)] = problem.labels[usize(i)];
  for (Index i = 0; i < 5; ++i) label[problem.x_test(i, 0)] = i % 2;
  PairFunctions own{{"same"}, [&](const SampleView& left, const SampleView& right, MatrixView<double> out) {
                      const auto a = std::get<MatrixView<const double>>(left.values);
                      const auto b = std::get<MatrixView<const double>>(right.values);
                      double* to = out.row(0);
                      for (Index i = 0; i < a.rows; ++i) {
                        for (Index j = 0; j < b.rows; ++j) *to++ = label.at(a(i, 0)) == label.at(b(j, 0)) ? 3 : -3;
                      }
                    }};
  PairSources sources = problem.sources();
  sources.own = &own;
  const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, sources, problem.labels, 2, {});
  const auto& regression = std::get<PairRegression>(aware.estimate);
  EXPECT_NEAR(regression.explained, 1, 1e-9);
  EXPECT_NEAR(regression.coefficients.back(), 1.0 / 3, 1e-7);
  AnyMatrix test = problem.k_test.copy();
  (void)add_label_aware(aware, KernelPart::test, test, sources, *engine);
  EXPECT_NEAR(std::get<Matrix<double>>(test)(1, 1) - problem.k_test(1, 1), aware.lambda, 1e-6 * aware.lambda);
  for (const double entry : label_aware_diagonal(aware, std::vector<double>(5, 1.0), problem.test_view(), &own)) {
    EXPECT_NEAR(entry, 1 + aware.lambda, 1e-6 * aware.lambda);
  }
  EXPECT_THROW((void)add_label_aware(aware, KernelPart::test, test, problem.sources(), *engine), Error);
  own.names = {"other"};
  EXPECT_THROW((void)add_label_aware(aware, KernelPart::test, test, sources, *engine), Error);

  own.evaluate = [](const SampleView&, const SampleView& right, MatrixView<double> out) {
    for (Index at = 0; at < out.cols; ++at) {
      const Index row = at / right.count();
      out(0, at) = static_cast<double>(row);
    }
  };
  EXPECT_THROW((void)fit_label_aware({problem.k.view(), *engine}, sources, problem.labels, 2, {}), Error);
}

TEST(LabelAwareKernel, CountsPairsBeyondTheTrainingRange) {
  const auto engine = make_engine("cpu");
  const Problem problem(40, 3, 4, 2);
  const LabelAware aware =
      fit_label_aware({problem.k.view(), *engine}, {}, problem.labels, 2, {.method = LabelAwareMethod::kr1});
  AnyMatrix far = problem.k_test.copy();
  auto& k = std::get<Matrix<double>>(far);
  for (Index j = 0; j < 40; ++j) k(1, j) = 1e6;
  EXPECT_EQ(add_label_aware(aware, KernelPart::test, far, {}, *engine), 40);
  AnyMatrix own = problem.k.copy();
  EXPECT_EQ(add_label_aware(aware, KernelPart::train, own, {}, *engine), 0);
}

/// A Gram matrix in a file is read strip by strip; the result is bitwise equal.
TEST(LabelAwareKernel, LearnsFromFilesWhatItLearnsFromMemory) {
  const auto engine = make_engine("cpu");
  const Problem problem(300, 2, 4, 2);
  const TemporaryFolder folder;
  const auto path = folder.path() / "gram.h5";
  const std::vector<GramBlock> blocks{{"", problem.view(), std::nullopt}};
  const std::vector<Network> networks{Network::parse("dense(w_std=1.5, b_std=0.2) relu dense")};
  (void)write_gram(path, networks, blocks, {.kind = Kind::ntk, .existing = Existing::replace}, *engine);
  {
    const GramMatrix stored = file_gram(GramFile(path), *engine, std::size_t{1} << 20);
    for (const LabelAwareMethod method : {LabelAwareMethod::linear2, LabelAwareMethod::kr1, LabelAwareMethod::fjlt1}) {
      const auto learned = [&](const GramMatrix& k) {
        return fit_label_aware(k, problem.sources(), problem.labels, 2, {.method = method, .distortion = 0.1}).lambda;
      };
      EXPECT_EQ(learned(stored), learned({problem.k.view(), *engine})) << to_string(method);
    }
  }
}

TEST(LabelAwareKernel, RefusesWhatDoesNotFitTogether) {
  const auto engine = make_engine("cpu");
  const Problem problem(30, 3, 4, 2);
  const GramMatrix k(problem.k.view(), *engine);
  const auto complaint = [&](const PairSources& sources, std::vector<Index> labels, LabelAwareOptions options) {
    try {
      (void)fit_label_aware(k, sources, labels, 2, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(complaint({}, problem.labels, {}).find("needs the samples"), std::string::npos);
  EXPECT_NE(complaint(problem.sources(), std::vector<Index>(30, 1), {}).find("one class"), std::string::npos);
  EXPECT_NE(complaint(problem.sources(), {0, 1}, {}).find("2 labels for 30"), std::string::npos);
  EXPECT_NE(complaint(problem.sources(), problem.labels, {.ratio = -1}).find("ratio"), std::string::npos);
  const Matrix<double> constant = [] {
    Matrix<double> ones(30, 30);
    std::fill_n(ones.data(), 900, 1.0);
    return ones;
  }();
  EXPECT_THROW((void)fit_label_aware(constant, {}, problem.labels, 2, {.method = LabelAwareMethod::kr1}), Error);
  EXPECT_THROW((void)fit_label_aware(constant, {}, problem.labels, 2, {.method = LabelAwareMethod::kr2}), Error);
}

}  // namespace
}  // namespace widelimit
