#include "widelimit/analysis/comparison/compare.hpp"

#include "tests/base/random_graphs.hpp"
#include "tests/base/stopping.hpp"
#include "tests/base/thrown.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/labels/folds.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

/// Points in the plane, inside or outside a ring: not linearly separable, but separable by nonlinear kernels.
struct Ring {
  Matrix<double> x;
  std::vector<Index> labels;
  std::vector<double> values;

  explicit Ring(Index n, std::uint64_t seed = 3) : x(n, 2) {
    const Random random(seed);
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::uint64_t>(4 * i);
      x(i, 0) = random.normal(at);
      x(i, 1) = random.normal(at + 1);
      values.push_back(std::hypot(x(i, 0), x(i, 1)) + 0.2 * random.normal(at + 2));
      labels.push_back(values.back() < 1 ? 0 : values.back() < 1.6 ? 1 : 2);
    }
  }
  [[nodiscard]] SampleView view() const { return {x.view(), Shape{1, 1, 2}}; }
  [[nodiscard]] FitTargets classes() const { return {.labels = labels, .classes = 3}; }
  [[nodiscard]] FitTargets numbers() const {
    return {.labels = {}, .values = {values.data(), std::ssize(values), 1, 1}};
  }
};

/// Classical kernels run on the CPU only, independent of the default engine.
const Engine& processor() {
  static const auto engine = make_engine("cpu");
  return *engine;
}

std::vector<Candidate> some() {
  return {classical_candidate("linear"), classical_candidate("rbf"), network_candidate("fc:2(b_std=1)", Kind::ntk)};
}

CompareOptions by(Machine machine, std::vector<double> lambdas = {1e-3, 0.1, 10}) {
  return {.tune = {.machine = {.machine = machine}, .lambdas = std::move(lambdas), .folds = 4, .seed = 5},
          .inner_folds = 3};
}

Comparison compare(const Ring& ring, const CompareOptions& options, const std::vector<Candidate>& candidates = some()) {
  return compare_kernels(candidates, ring.view(), ring.classes(), std::nullopt, options, processor());
}

AnyMatrix gram_of(const AnyKernel& kernel, const SampleView& x, const std::optional<SampleView>& z = std::nullopt) {
  KernelResult result = compute_kernel({.kernel = kernel}, x, z, processor());
  return std::move(result.matrices.back().values);
}

TEST(Compare, AllHaveTheFoldsOfTune) {
  const Ring ring(60);
  const Comparison found = compare(ring, by(Machine::ridge));
  const std::vector<SplitRows> folds = draw_folds(ring.labels, 4, 5);
  ASSERT_EQ(found.folds.size(), 4U);
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(found.folds[f].test, folds[f].test);
    EXPECT_EQ(found.folds[f].train, folds[f].train);
  }
  for (const ComparedKernel& row : found.kernels) {
    ASSERT_EQ(row.folds.size(), 4U);
    for (std::size_t f = 0; f < 4; ++f) EXPECT_EQ(row.folds[f].predictions.classes.size(), folds[f].test.size());
  }
}

TEST(Compare, EachChoiceIsThatOfTuneAlone) {
  const Ring ring(60);
  for (const Machine machine : {Machine::ridge, Machine::svm}) {
    const CompareOptions options = by(machine);
    for (const ComparedKernel& row : compare(ring, options).kernels) {
      std::vector<TunePoint> all;
      for (const AnyKernel& kernel : kernels_of(row.candidate, ring.view())) {
        const AnyMatrix k = gram_of(kernel, ring.view());
        for (const TunePoint& point : tune_classes(k, ring.labels, 3, options.tune)) all.push_back(point);
      }
      const TunePoint& best = all[*best_point(all)];
      EXPECT_EQ(row.tuned_error, *best.misclassified) << row.candidate.name;
      EXPECT_EQ(row.lambda, best.lambda) << row.candidate.name;
    }
  }
}

/// One fold computed explicitly: leave-one-out on its training rows, then the machine of the best λ.
TEST(Compare, RidgeChoosesWithinTheTrainingPart) {
  const Ring ring(50);
  const CompareOptions options = by(Machine::ridge);
  const Comparison found = compare_kernels({network_candidate("fc:2(b_std=1)", Kind::ntk)}, ring.view(), ring.numbers(),
                                           std::nullopt, options, processor());
  const AnyMatrix all = gram_of(found.kernels[0].kernel(), ring.view());
  double sum = 0;
  for (std::size_t f = 0; f < found.folds.size(); ++f) {
    const SplitRows& rows = found.folds[f];
    const std::vector<double> y = chosen(std::span<const double>(ring.values), rows.train);
    const GramMatrix part = GramMatrix(all).part(rows.train);
    const RidgePath path = ridge_path(part, {y.data(), std::ssize(y), 1, 1}, options.tune.lambdas, {});
    const RidgePoint& best = path.points[usize(*path.best())];
    EXPECT_EQ(found.kernels[0].folds[f].lambda, best.lambda);
    for (std::size_t i = 0; i < rows.test.size(); ++i) {
      double g = 0;
      for (std::size_t j = 0; j < rows.train.size(); ++j) {
        g += std::get<Matrix<double>>(all)(rows.test[i], rows.train[j]) * best.fit.alpha(static_cast<Index>(j), 0);
      }
      EXPECT_NEAR(found.kernels[0].folds[f].predictions.values[i], g, 1e-8);
      sum += std::pow(ring.values[usize(rows.test[i])] - g, 2);
    }
  }
  EXPECT_NEAR(found.kernels[0].error, sum / 50, 1e-8);
  EXPECT_EQ(found.test, PairedTest::paired_t);
}

/// Same for a machine with nested folds, and for a family.
TEST(Compare, OthersChooseByFoldsWithinFolds) {
  const Ring ring(60);
  const CompareOptions options = by(Machine::svm, {0.01, 1});
  const Comparison found = compare(ring, options, {classical_candidate("rbf")});
  const ComparedKernel& row = found.kernels[0];
  ASSERT_EQ(row.tuned.size(), 4U);
  Index wrong = 0;
  for (std::size_t f = 0; f < found.folds.size(); ++f) {
    const SplitRows& rows = found.folds[f];
    const std::vector<Index> y = chosen(std::span<const Index>(ring.labels), rows.train);
    TuneOptions inner = options.tune;
    inner.given_folds = draw_folds(y, 3, 5);
    std::vector<TunePoint> all;
    for (const TunedKernel& kernel : row.tuned) {
      const AnyMatrix k = gram_of(kernel.kernel, ring.view());
      for (const TunePoint& point : tune_classes(GramMatrix(k).part(rows.train), y, 3, inner)) all.push_back(point);
    }
    const std::size_t best = *best_point(all);
    EXPECT_EQ(row.folds[f].kernel, best / 2);
    EXPECT_EQ(row.folds[f].lambda, all[best].lambda);
    for (std::size_t i = 0; i < rows.test.size(); ++i) {
      wrong += row.folds[f].predictions.classes[i] == ring.labels[usize(rows.test[i])] ? 0 : 1;
    }
  }
  EXPECT_DOUBLE_EQ(row.error, static_cast<double>(wrong) / 60);
  EXPECT_LE(row.interval->low, row.error);
  EXPECT_GE(row.interval->high, row.error);
}

TEST(Compare, TellsWhoIsWorseAndWhoTies) {
  const Ring ring(240);
  const Comparison found = compare(ring, by(Machine::ridge));
  EXPECT_EQ(found.test, PairedTest::mcnemar);
  EXPECT_NE(found.best, 0U);
  EXPECT_FALSE(found.kernels[0].tied());
  EXPECT_TRUE(found.kernels[1].tied());
  EXPECT_TRUE(found.kernels[2].tied());
  EXPECT_EQ(found.order().front(), found.best);
  EXPECT_EQ(found.order().back(), 0U);
  // Computed explicitly: samples that exactly one of two classifies correctly, three pairs.
  std::vector<double> p;
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    std::array<Index, 2> only{0, 0};
    for (std::size_t f = 0; f < found.folds.size(); ++f) {
      for (std::size_t i = 0; i < found.folds[f].test.size(); ++i) {
        const Index label = ring.labels[usize(found.folds[f].test[i])];
        const bool first = found.kernels[usize(a)].folds[f].predictions.classes[i] == label;
        const bool second = found.kernels[usize(b)].folds[f].predictions.classes[i] == label;
        if (first != second) ++only[first ? 0 : 1];
      }
    }
    p.push_back(mcnemar_p(only[0], only[1]));
  }
  const std::vector<double> adjusted = holm_adjusted(p);
  EXPECT_EQ(*found.kernels[0].p, adjusted[found.best - 1]);
  EXPECT_EQ(*found.kernels[3 - found.best].p, adjusted[2]);
  EXPECT_FALSE(found.kernels[found.best].p);
}

TEST(Compare, NumbersAreComparedBySamples) {
  const Ring ring(80);
  const Comparison found =
      compare_kernels(some(), ring.view(), ring.numbers(), std::nullopt, by(Machine::ridge), processor());
  EXPECT_FALSE(found.kernels[0].tied());  // a linear kernel cannot represent a radius
  std::vector<double> p;
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    std::vector<double> d;
    for (std::size_t f = 0; f < found.folds.size(); ++f) {
      for (std::size_t i = 0; i < found.folds[f].test.size(); ++i) {
        const double y = ring.values[usize(found.folds[f].test[i])];
        d.push_back(std::pow(y - found.kernels[usize(a)].folds[f].predictions.values[i], 2) -
                    std::pow(y - found.kernels[usize(b)].folds[f].predictions.values[i], 2));
      }
    }
    p.push_back(paired_t_p(d));
  }
  EXPECT_DOUBLE_EQ(*found.kernels[0].p, holm_adjusted(p)[found.best - 1]);
}

TEST(Compare, AFailureLeavesTheOthers) {
  const Ring ring(40);
  std::vector<Candidate> candidates = some();
  candidates.push_back(network_candidate("conv relu global_avg_pool dense", Kind::ntk));
  const Comparison found = compare(ring, by(Machine::ridge), candidates);
  ASSERT_TRUE(found.kernels[3].failure);
  EXPECT_EQ(found.kernels[3].failure->code(), Code::input);
  EXPECT_FALSE(found.kernels[3].tied());
  EXPECT_FALSE(found.kernels[3].p);
  EXPECT_EQ(found.order().back(), 3U);
  const Comparison without = compare(ring, by(Machine::ridge));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.kernels[i].error, without.kernels[i].error);
    EXPECT_EQ(found.kernels[i].p, without.kernels[i].p);
  }
  candidates.erase(candidates.begin(), candidates.begin() + 3);
  EXPECT_THROW((void)compare(ring, by(Machine::ridge), candidates), Error);
}

TEST(Compare, AKernelThatExceedsMemoryLeavesTheOthers) {
  const Ring ring(40);
  CompareOptions options = by(Machine::ridge);
  options.memory = 40 * 40 * sizeof(double) - 1;
  try {
    (void)compare(ring, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::resource);
    EXPECT_NE(std::string(error.what()).find("no kernel has a result"), std::string::npos) << error.what();
  }
}

TEST(Compare, GivenFoldsThatOverlapAreComparedByTheirErrors) {
  const Ring ring(40);
  CompareOptions options = by(Machine::ridge);
  std::vector<Index> first, second;
  for (Index i = 0; i < 30; ++i) first.push_back(i);
  for (Index i = 30; i < 40; ++i) second.push_back(i);
  options.tune.given_folds = {{.train = first, .test = second}};
  EXPECT_EQ(compare(ring, options).test, PairedTest::mcnemar);
  const auto test_of_numbers = [&] {
    return compare_kernels(some(), ring.view(), ring.numbers(), std::nullopt, options, processor()).test;
  };
  EXPECT_EQ(test_of_numbers(), PairedTest::paired_t);
  options.tune.given_folds[0].test = {39};
  EXPECT_EQ(test_of_numbers(), PairedTest::none);
  options.tune.given_folds[0].test = second;
  std::vector<Index> rest(first.begin(), first.begin() + 25);
  std::vector<Index> more(first.begin() + 25, first.end());
  more.insert(more.end(), second.begin(), second.end());
  options.tune.given_folds.push_back({.train = rest, .test = more});
  const Comparison found = compare(ring, options);
  EXPECT_EQ(found.test, PairedTest::corrected_t);
  for (const ComparedKernel& row : found.kernels) {
    EXPECT_DOUBLE_EQ(row.error, (row.folds[0].error + row.folds[1].error) / 2);
    EXPECT_TRUE(row.interval);
  }
}

TEST(Compare, BalancedErrorsAreThoseOfClasses) {
  const Ring ring(60);
  CompareOptions options = by(Machine::svm, {0.1});
  options.tune.machine.class_weights.balanced = true;
  const Comparison found = compare(ring, options, {classical_candidate("rbf(gamma=1)")});
  EXPECT_EQ(found.test, PairedTest::paired_t);
  std::array<double, 3> wrong{}, of{};
  for (std::size_t f = 0; f < found.folds.size(); ++f) {
    for (std::size_t i = 0; i < found.folds[f].test.size(); ++i) {
      const Index label = ring.labels[usize(found.folds[f].test[i])];
      of[usize(label)] += 1;
      wrong[usize(label)] += found.kernels[0].folds[f].predictions.classes[i] == label ? 0 : 1;
    }
  }
  EXPECT_NEAR(found.kernels[0].error, (wrong[0] / of[0] + wrong[1] / of[1] + wrong[2] / of[2]) / 3, 1e-14);
}

TEST(Compare, TestSamplesAreScoredByTheChoiceOfAllTrainingSamples) {
  const Ring ring(60);
  const Ring others(30, 9);
  const Comparison found =
      compare_kernels(some(), ring.view(), ring.classes(), TestSamples{others.view(), others.classes()},
                      by(Machine::ridge), processor());
  for (const ComparedKernel& row : found.kernels) {
    const AnyMatrix k = gram_of(row.kernel(), ring.view());
    const AnyMatrix test = gram_of(row.kernel(), ring.view(), others.view());
    const FittedMachine fitted = train_classes(k, ring.labels, 3, {.machine = Machine::ridge, .lambda = row.lambda});
    const auto predicted = classes_of(fitted.scheme, 3, decision(fitted.fit, view_of(test)).view());
    Index wrong = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) wrong += predicted[i] == others.labels[i] ? 0 : 1;
    EXPECT_DOUBLE_EQ(*row.test_error, static_cast<double>(wrong) / 30) << row.candidate.name;
    EXPECT_TRUE(row.test_interval);
  }
}

TEST(Compare, LambdasFollowTheScaleOfAKernel) {
  Ring ring(40);
  const auto options = by(Machine::ridge, {});
  const std::vector<Candidate> linear{classical_candidate("linear")};
  const Comparison small = compare(ring, options, linear);
  for (Index i = 0; i < 80; ++i) ring.x.data()[i] *= 1000;
  const Comparison large = compare(ring, options, linear);
  // K and all λ are scaled by 1e6: the same machines.
  EXPECT_NEAR(large.kernels[0].lambda, 1e6 * small.kernels[0].lambda, 1e-6 * large.kernels[0].lambda);
  EXPECT_EQ(large.kernels[0].error, small.kernels[0].error);
}

TEST(Compare, ASweepIsAFamilyOfCuts) {
  const Ring ring(40);
  const Comparison found = compare(ring, by(Machine::ridge), {network_candidate("fc:2(b_std=1)", Kind::ntk, true)});
  EXPECT_EQ(found.kernels[0].candidate.name, "fc:2(b_std=1) sweep");
  EXPECT_EQ(found.kernels[0].tuned.size(), 6U);
}

TEST(Compare, UsualCandidatesSuitTheSamples) {
  const auto names = [](const SampleView& x) {
    std::vector<std::string> all;
    for (const Candidate& candidate : usual_candidates(x, Kind::ntk)) all.push_back(candidate.name);
    return all;
  };
  const Ring ring(4);
  const std::vector<std::string> vectors{"linear", "rbf", "laplace", "fc:1", "fc:3", "fc:5"};
  EXPECT_EQ(names(ring.view()), vectors);
  const Matrix<double> images(2, 16);
  EXPECT_EQ(names({images.view(), Shape{4, 4, 1}}).back(), "cntk:3");
  const Graphs graphs = test::random_graphs(12, 5, 1);
  EXPECT_EQ(names(SampleView(graphs)), (std::vector<std::string>{"gntk:2", "gntk:3", "gntk:5"}));
  std::vector<Index> labels;
  for (Index i = 0; i < 12; ++i) labels.push_back(i % 2);
  std::vector<Candidate> candidates = usual_candidates(SampleView(graphs), Kind::ntk);
  candidates.push_back(classical_candidate("rbf"));
  const Comparison found =
      compare_kernels(candidates, SampleView(graphs), {.labels = labels, .classes = 2}, std::nullopt,
                      {.tune = {.machine = {.machine = Machine::ridge}, .lambdas = {0.1}, .folds = 2}}, processor());
  EXPECT_TRUE(found.kernels.back().failure);
  EXPECT_FALSE(found.kernels.front().failure);
}

TEST(Compare, RefusesWhatMeansNothing) {
  const Ring ring(20);
  EXPECT_EQ(thrown_code([&] { return compare(ring, by(Machine::ridge), {}); }), Code::usage);
  EXPECT_EQ(thrown_code([&] { return compare(ring, by(Machine::ridge), {some()[0], some()[0]}); }), Code::usage);
  CompareOptions options = by(Machine::ridge);
  options.tune.folds = 21;
  EXPECT_EQ(thrown_code([&] { return compare(ring, options); }), Code::input);
  EXPECT_EQ(thrown_code([&] { return compare(ring, by(Machine::ridge, {-1})); }), Code::input);
  EXPECT_EQ(thrown_code([&] { return compare(ring, by(Machine::svr)); }), Code::usage);
  EXPECT_EQ(thrown_code([] { return network_candidate("fc:1", Kind::both); }), Code::usage);
  EXPECT_EQ(thrown_code([] { return network_candidate("fc:x", Kind::ntk); }), Code::input);
  const FitTargets few{.labels = std::span(ring.labels).first(19), .classes = 3};
  EXPECT_EQ(thrown_code([&] {
              return compare_kernels(some(), ring.view(), few, std::nullopt, by(Machine::ridge), processor());
            }),
            Code::input);
}

TEST(Compare, StopsWhereItIsAsked) {
  const Ring ring(60);
  StopAt all;
  CompareOptions options = by(Machine::svm);
  options.tune.machine.progress = &all;
  (void)compare(ring, options);
  EXPECT_GT(all.updates, 5);
  for (const int last : {1, 5}) {  // the number of polls depends on the clock
    StopAt stop(last);
    options.tune.machine.progress = &stop;
    EXPECT_EQ(thrown_code([&] { return compare(ring, options); }), Code::interrupted) << last;
  }
}

TEST(Compare, BitsDoNotDependOnThreads) {
  const Ring ring(60);
  const auto run = [&](int threads) {
    return compare_kernels(some(), ring.view(), ring.numbers(), std::nullopt, by(Machine::ridge),
                           *make_engine("cpu", {.threads = threads}));
  };
  const Comparison one = run(1);
  const Comparison two = run(2);
  for (std::size_t i = 0; i < one.kernels.size(); ++i) {
    EXPECT_EQ(one.kernels[i].error, two.kernels[i].error);
    EXPECT_EQ(one.kernels[i].p, two.kernels[i].p);
  }
}

}  // namespace
}  // namespace widelimit
