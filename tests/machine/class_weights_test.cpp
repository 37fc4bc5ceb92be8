#include "tests/machine/noisy_samples.hpp"
#include "tests/machine/random_gram.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"
#include "widelimit/machine/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

std::vector<Index> uneven_labels(Index n, Index classes) {
  std::vector<Index> labels;
  for (Index i = 0; i < n; ++i) labels.push_back(i % 5 == 0 ? (i / 5) % classes : 0);
  return labels;
}

/// Repeats every sample of class c c + 1 times.
std::vector<Index> repeated_rows(const std::vector<Index>& labels) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    rows.insert(rows.end(), static_cast<std::size_t>(labels[i] + 1), static_cast<Index>(i));
  }
  return rows;
}

struct WeighedCase {
  MachineOptions machine;
  Index classes = 2;
};

/// With integer class weights, repeating samples gives the same problem: equal objectives up to the gap, and decisions
/// up to its square root by strong convexity, |g − g'|² ≤ 2·gap·objective·K(x,x)/λ.
TEST(ClassWeights, AreRepeatedSamples) {
  constexpr Index n = 40;
  const Matrix<double> k = random_gram(n, 6);
  std::vector<WeighedCase> cases;
  for (const Machine machine : {Machine::svm, Machine::svm2, Machine::logistic, Machine::ridge}) {
    for (const bool bias : {false, true}) {
      for (const Index classes : {2, 3}) {
        cases.push_back({{.machine = machine, .lambda = 0.5, .bias = bias, .tolerance = 1e-11}, classes});
      }
    }
  }
  cases.push_back({{.machine = Machine::svm, .lambda = 0.5, .scheme = Scheme::one_vs_rest, .tolerance = 1e-11}, 3});
  for (WeighedCase& one : cases) {
    SCOPED_TRACE(testing::Message() << to_string(one.machine.machine) << ", " << one.classes << " classes, bias "
                                    << one.machine.bias);
    const std::vector<Index> labels = uneven_labels(n, one.classes);
    const std::vector<Index> rows = repeated_rows(labels);
    const Index m = std::ssize(rows);
    Matrix<double> copies(m, m);
    Matrix<double> across(n, m);
    std::vector<Index> copied;
    for (Index j = 0; j < m; ++j) {
      const Index from = rows[static_cast<std::size_t>(j)];
      copied.push_back(labels[static_cast<std::size_t>(from)]);
      for (Index i = 0; i < m; ++i) copies(i, j) = k(rows[static_cast<std::size_t>(i)], from);
      for (Index i = 0; i < n; ++i) across(i, j) = k(i, from);
    }
    const FittedMachine repeated = train_classes(copies.view(), copied, one.classes, one.machine);
    MachineOptions weighed = one.machine;
    for (Index c = 0; c < one.classes; ++c) weighed.class_weights.each.push_back(static_cast<double>(c + 1));
    const FittedMachine found = train_classes(k.view(), labels, one.classes, weighed);
    ASSERT_TRUE(found.fit.summary.converged()) << found.fit.summary.message;
    const double objective = *found.fit.summary.primal;
    EXPECT_NEAR(objective, *repeated.fit.summary.primal, 1e-9 * objective);
    const Matrix<double> g = decision(found.fit, k.view());
    const Matrix<double> expected = decision(repeated.fit, across.view());
    const double largest = *std::max_element(k.data(), k.data() + n * n);
    // Factor 10 for the bias, which is determined by the losses only.
    const double slack = 10 * std::sqrt(2e-11 * objective * largest / one.machine.lambda);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < g.cols(); ++j) EXPECT_NEAR(g(i, j), expected(i, j), slack);
    }
    // The weights have an effect.
    const FittedMachine plain = train_classes(k.view(), labels, one.classes, one.machine);
    EXPECT_GT(std::fabs(*plain.fit.summary.primal - objective), 1e-3);
  }
}

TEST(ClassWeights, BalancedAreInverseToTheSizes) {
  const std::vector<Index> labels{0, 0, 0, 0, 0, 1, 1, 2};
  const MachineOptions options{.machine = Machine::svm, .class_weights = {.balanced = true}};
  const auto weights = sample_weights(options, labels, 3);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    EXPECT_DOUBLE_EQ(weights[i], 8.0 / (3 * (labels[i] == 0 ? 5 : (labels[i] == 1 ? 2 : 1))));
  }
  // A weight of 2 counts a sample twice: the class of one sample counts as one of two.
  MachineOptions weighed = options;
  const std::vector<double> own{1, 1, 1, 1, 1, 1, 1, 2};
  weighed.weights = own;
  const auto both = sample_weights(weighed, labels, 3);
  EXPECT_DOUBLE_EQ(both[7], 2 * 9.0 / (3 * 2));
  EXPECT_DOUBLE_EQ(both[5], 9.0 / (3 * 2));
  EXPECT_TRUE(sample_weights({}, labels, 3).empty());
}

TEST(ClassWeights, AreRefusedByMachinesThatCannotWeigh) {
  const Matrix<double> k = random_gram(6, 6);
  const std::vector<Index> labels{0, 1, 0, 1, 0, 1};
  const ClassWeights balanced{.balanced = true};
  for (const Machine machine : {Machine::hard_svm, Machine::regression}) {
    try {
      (void)train_classes(k.view(), labels, 2, {.machine = machine, .class_weights = balanced});
      ADD_FAILURE() << to_string(machine);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::usage);
      EXPECT_NE(std::string(error.what()).find(to_string(machine)), std::string::npos) << error.what();
    }
  }
  const Matrix<double> targets(6, 1);
  EXPECT_THROW((void)train_values(k.view(), targets.view(), {.machine = Machine::ridge, .class_weights = balanced}),
               Error);
  const auto refused = [&](const ClassWeights& weights) {
    EXPECT_THROW((void)train_classes(k.view(), labels, 2, {.class_weights = weights}), Error);
  };
  refused({.each = {1}});
  refused({.each = {1, 0}});
  refused({.each = {1, NAN}});
  refused({.balanced = true, .each = {1, 2}});
  const FitDataOptions posterior{.machine = {.machine = Machine::ridge, .class_weights = balanced}, .posterior = true};
  EXPECT_THROW(posterior.validate(), Error);
}

/// With a factor of the Gram matrix, and with conjugate gradients.
TEST(ClassWeights, ReachEverySolverOfRidge) {
  const Dataset data = noisy_samples(30, {1, 1, 4}, 5);
  const std::vector<Index> labels = uneven_labels(30, 3);
  const FitTargets y{.labels = labels, .classes = 3};
  const KernelRequest request{.kernel = Network::parse("fc:1"), .method = Method::exact};
  FitDataOptions options{.machine = {.machine = Machine::ridge, .lambda = 0.2, .class_weights = {.balanced = true}}};
  options.machine.tolerance = 1e-12;
  options.solver = Solver::dense;
  const FittedData dense = fit_samples(request, data.view(), y, options, all_processors());
  options.solver = Solver::conjugate_gradients;
  const FittedData products = fit_samples(request, data.view(), y, options, all_processors());
  MachineOptions plain = options.machine;
  const std::vector<double> weights = sample_weights(plain, labels, 3);
  options.machine.class_weights = {};
  options.machine.weights = weights;
  options.solver = Solver::dense;
  const FittedData expected = fit_samples(request, data.view(), y, options, all_processors());
  for (Index i = 0; i < 30; ++i) {
    for (Index c = 0; c < 3; ++c) {
      EXPECT_NEAR(dense.train(i, c), expected.train(i, c), 1e-12);
      EXPECT_NEAR(products.train(i, c), expected.train(i, c), 1e-8);
    }
  }
}

/// A machine that cannot separate the classes misclassifies all samples of the second: a fifth of the samples, or half
/// with balanced classes.
TEST(ClassWeights, CountInTheErrorsOfTune) {
  constexpr Index n = 30;
  const Matrix<double> zero(n, n);
  std::vector<Index> labels(n, 0);
  for (std::size_t i = 0; i < 6; ++i) labels[5 * i] = 1;
  TuneOptions options{.machine = {.machine = Machine::svm}, .lambdas = {1}, .folds = 3};
  EXPECT_NEAR(*tune_classes(zero.view(), labels, 2, options)[0].misclassified, 0.2, 1e-15);
  options.machine.class_weights.balanced = true;
  const TunePoint balanced = tune_classes(zero.view(), labels, 2, options)[0];
  EXPECT_NEAR(*balanced.misclassified, 0.5, 1e-15);
  EXPECT_NEAR(*balanced.training_misclassified, 0.5, 1e-15);
}

TEST(ClassWeights, OfRidgeAreThoseOfItsLeaveOneOut) {
  constexpr Index n = 33;
  const Matrix<double> k = random_gram(n, 40);
  const std::vector<Index> labels = uneven_labels(n, 3);
  TuneOptions options{.machine = {.machine = Machine::ridge, .class_weights = {.balanced = true}}, .lambdas = {0.3}};
  const TunePoint point = tune_classes(k.view(), labels, 3, options)[0];
  const std::vector<double> weights = sample_weights(options.machine, labels, 3);
  const RidgePath path = ridge_path(k.view(), class_targets(labels, 3).view(), options.lambdas, {.weights = weights});
  EXPECT_EQ(*point.misclassified, *path.points[0].loo_misclassified);
  // The training error computed from the machine itself.
  MachineOptions machine = options.machine;
  machine.lambda = 0.3;
  const FittedMachine trained = train_classes(k.view(), labels, 3, machine);
  const auto predicted = classes_of(trained.scheme, 3, decision(trained.fit, k.view()).view());
  double missed = 0;
  double total = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    missed += predicted[i] == labels[i] ? 0 : weights[i];
    total += weights[i];
  }
  EXPECT_NEAR(*point.training_misclassified, missed / total, 1e-12);
}

}  // namespace
}  // namespace widelimit
