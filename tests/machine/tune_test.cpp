#include "widelimit/machine/tune.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Returns exp(−|xᵢ − xⱼ|) of points on a line.
Matrix<double> line_kernel(const std::vector<double>& x) {
  Matrix<double> k(std::ssize(x), std::ssize(x));
  for (Index i = 0; i < k.rows(); ++i) {
    for (Index j = 0; j < k.cols(); ++j) {
      k(i, j) = std::exp(-std::abs(x[static_cast<std::size_t>(i)] - x[static_cast<std::size_t>(j)]));
    }
  }
  return k;
}

struct Line {
  std::vector<double> x, y;
  std::vector<Index> labels;
};

Line noisy_line(Index n) {
  Line line;
  const Random random(7);
  for (Index i = 0; i < n; ++i) {
    const double x = 4 * random.uniform(static_cast<std::uint64_t>(2 * i));
    line.x.push_back(x);
    line.y.push_back(std::sin(x) + 0.1 * random.normal(static_cast<std::uint64_t>(2 * i + 1)));
    line.labels.push_back(line.y.back() > 0 ? 1 : 0);
  }
  return line;
}

TEST(Tune, RidgeIsLeftOutOneByOne) {
  const Line line = noisy_line(23);
  const Matrix<double> k = line_kernel(line.x);
  TuneOptions options{.machine = {.machine = Machine::ridge}, .lambdas = {1e-3, 0.3}};
  const auto points = tune_values(k.view(), line.y, options);
  ASSERT_EQ(points.size(), 2U);
  for (const TunePoint& point : points) {
    double sum = 0;
    for (std::size_t out = 0; out < line.x.size(); ++out) {
      std::vector<double> x = line.x;
      std::vector<double> y = line.y;
      x.erase(x.begin() + static_cast<std::ptrdiff_t>(out));
      y.erase(y.begin() + static_cast<std::ptrdiff_t>(out));
      const Matrix<double> rest = line_kernel(x);
      const Fit fit = fit_ridge(rest.view(), {y.data(), std::ssize(y), 1, 1}, {.lambda = point.lambda});
      Matrix<double> row(1, std::ssize(x));
      for (Index j = 0; j < row.cols(); ++j)
        row(0, j) = std::exp(-std::abs(line.x[out] - x[static_cast<std::size_t>(j)]));
      const double error = line.y[out] - decision(fit, row.view())(0, 0);
      sum += error * error / static_cast<double>(line.x.size());
    }
    EXPECT_NEAR(*point.squared_error, sum, 1e-9 * sum) << point.lambda;
  }
}

TEST(Tune, AsManyFoldsAsSamplesLeaveEachOut) {
  const Line line = noisy_line(12);
  const Matrix<double> k = line_kernel(line.x);
  // ε = 0 and a λ for which no coefficient is at its bound: the interpolant, as for regression.
  const auto svr = tune_values(
      k.view(), line.y,
      {.machine = {.machine = Machine::svr, .epsilon = 0, .tolerance = 1e-8}, .lambdas = {1e-4}, .folds = 12});
  const auto regression =
      tune_values(k.view(), line.y, {.machine = {.machine = Machine::regression}, .lambdas = {1}, .folds = 12});
  ASSERT_TRUE(svr[0].squared_error);
  EXPECT_NEAR(*svr[0].squared_error, *regression[0].squared_error, 1e-3 * *regression[0].squared_error);
}

TEST(Tune, TellsTheErrorInTraining) {
  const Line line = noisy_line(23);
  const Matrix<double> k = line_kernel(line.x);
  const TuneOptions ridge{.machine = {.machine = Machine::ridge, .bias = true}, .lambdas = {1e-3, 30}};
  const auto squared_error = [&](const Fit& fit, const Matrix<double>& gram, const std::vector<double>& y) {
    const Matrix<double> g = decision(fit, gram.view());
    double sum = 0;
    for (Index i = 0; i < g.rows(); ++i) sum += std::pow(y[static_cast<std::size_t>(i)] - g(i, 0), 2);
    return sum / static_cast<double>(y.size());
  };
  for (const TunePoint& point : tune_values(k.view(), line.y, ridge)) {
    const Fit fit = fit_ridge(k.view(), {line.y.data(), 23, 1, 1}, {.lambda = point.lambda, .bias = true});
    ASSERT_TRUE(point.training_squared_error);
    EXPECT_NEAR(*point.training_squared_error, squared_error(fit, k, line.y), 1e-12);
  }
  // As many folds as samples: the mean over the leave-one-out machines.
  const TuneOptions svr{.machine = {.machine = Machine::svr, .tolerance = 1e-12}, .lambdas = {0.5}, .folds = 23};
  const TunePoint point = tune_values(k.view(), line.y, svr)[0];
  double mean = 0;
  for (std::size_t out = 0; out < line.x.size(); ++out) {
    std::vector<double> x = line.x;
    std::vector<double> y = line.y;
    x.erase(x.begin() + static_cast<std::ptrdiff_t>(out));
    y.erase(y.begin() + static_cast<std::ptrdiff_t>(out));
    const Matrix<double> rest = line_kernel(x);
    const FittedMachine trained =
        train_values(rest.view(), {y.data(), 22, 1, 1}, {.machine = Machine::svr, .lambda = 0.5, .tolerance = 1e-12});
    mean += squared_error(trained.fit, rest, y) / 23;
  }
  ASSERT_TRUE(point.training_error());
  EXPECT_NEAR(*point.training_error(), mean, 1e-6);
}

TEST(Tune, EveryClassifierLearnsTheLine) {
  const Line line = noisy_line(60);
  const Matrix<double> k = line_kernel(line.x);
  for (const Machine machine : {Machine::ridge, Machine::svm, Machine::svm2, Machine::logistic}) {
    const auto points =
        tune_classes(k.view(), line.labels, 2, {.machine = {.machine = machine}, .lambdas = {1e4, 0.1}});
    EXPECT_LT(*points[1].misclassified, 0.2) << to_string(machine);
    EXPECT_EQ(best_point(points), 1U) << to_string(machine);
  }
}

TEST(Tune, RefusesWhatCannotBeTried) {
  const Line line = noisy_line(6);
  const Matrix<double> k = line_kernel(line.x);
  const auto refused = [&](const TuneOptions& options) {
    EXPECT_THROW((void)tune_values(k.view(), line.y, options), Error);
  };
  refused({.machine = {.machine = Machine::ridge}, .lambdas = {}});
  refused({.machine = {.machine = Machine::ridge}, .lambdas = {-1}});
  refused({.machine = {.machine = Machine::svr}, .lambdas = {1}, .folds = 1});
  refused({.machine = {.machine = Machine::svr}, .lambdas = {1}, .folds = 7});
  const std::vector<Index> single_sample{0, 0, 0, 0, 0, 1};
  EXPECT_THROW((void)tune_classes(k.view(), single_sample, 2, {.lambdas = {1}, .folds = 2}), Error);
}

TEST(Tune, MisclassifiesInTrainingWhatTheMachineDoes) {
  const Line line = noisy_line(37);
  const Matrix<double> k = line_kernel(line.x);
  const TuneOptions options{.machine = {.machine = Machine::ridge}, .lambdas = {1e-6, 20}};
  for (const TunePoint& point : tune_classes(k.view(), line.labels, 2, options)) {
    const FittedMachine trained =
        train_classes(k.view(), line.labels, 2, {.machine = Machine::ridge, .lambda = point.lambda});
    const auto predicted = classes_of(trained.scheme, 2, decision(trained.fit, k.view()).view());
    double missed = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) missed += predicted[i] == line.labels[i] ? 0 : 1.0 / 37;
    ASSERT_TRUE(point.training_misclassified);
    EXPECT_NEAR(*point.training_misclassified, missed, 1e-12);
  }
}

/// Fits the machine of the training rows of a fold by definition, and returns its error on the test rows.
double error_of(const Matrix<double>& k, const std::vector<Index>& labels, Index classes, const SplitRows& fold,
                const MachineOptions& machine) {
  Matrix<double> square(std::ssize(fold.train), std::ssize(fold.train));
  Matrix<double> rows(std::ssize(fold.test), std::ssize(fold.train));
  std::vector<Index> known;
  for (std::size_t j = 0; j < fold.train.size(); ++j) {
    known.push_back(labels[static_cast<std::size_t>(fold.train[j])]);
    const auto column = static_cast<Index>(j);
    for (Index i = 0; i < square.rows(); ++i)
      square(i, column) = k(fold.train[static_cast<std::size_t>(i)], fold.train[j]);
    for (Index i = 0; i < rows.rows(); ++i) rows(i, column) = k(fold.test[static_cast<std::size_t>(i)], fold.train[j]);
  }
  const FittedMachine trained = train_classes(square.view(), known, classes, machine);
  const auto predicted = classes_of(trained.scheme, classes, decision(trained.fit, rows.view()).view());
  double missed = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    missed += predicted[i] == labels[static_cast<std::size_t>(fold.test[i])] ? 0 : 1;
  }
  return missed / static_cast<double>(predicted.size());
}

TEST(Tune, GivenFoldsAreTheMeanOfTheirErrors) {
  const Line line = noisy_line(37);
  const Matrix<double> k = line_kernel(line.x);
  std::vector<SplitRows> folds(2);
  for (Index i = 0; i < 37; ++i) {
    (i < 20 ? folds[0].train : folds[0].test).push_back(i);
    if (i % 5 != 2) (i % 5 == 0 ? folds[1].test : folds[1].train).push_back(36 - i);
  }
  for (const Machine machine : {Machine::svm, Machine::ridge, Machine::logistic}) {
    const TuneOptions options{.machine = {.machine = machine}, .lambdas = {1e-2, 20}, .given_folds = folds};
    for (const TunePoint& point : tune_classes(k.view(), line.labels, 2, options)) {
      double mean = 0;
      for (const SplitRows& fold : folds) {
        mean += error_of(k, line.labels, 2, fold, {.machine = machine, .lambda = point.lambda}) / 2;
      }
      EXPECT_NEAR(point.misclassified.value(), mean, 1e-12) << to_string(machine) << ' ' << point.lambda;
    }
  }
}

TEST(Tune, AFoldFitsTheClassesThatItTrainsOn) {
  const Line line = noisy_line(30);
  const Matrix<double> k = line_kernel(line.x);
  SplitRows fold;
  for (Index i = 0; i < 20; ++i) fold.train.push_back(i);
  for (Index i = 20; i < 30; ++i) fold.test.push_back(i);
  const double of_two = error_of(k, line.labels, 2, fold, {.lambda = 0.1});
  // The two classes become 0 and 2. Class 1 has one sample, which is tested and counts as an error.
  std::vector<Index> labels;
  for (const Index label : line.labels) labels.push_back(2 * label);
  const SplitRows of_25{fold.train, {25}};
  const double wrong_before = error_of(k, line.labels, 2, of_25, {.lambda = 0.1});
  labels[25] = 1;
  TuneOptions options{.lambdas = {0.1}, .given_folds = {fold}};
  EXPECT_NEAR(tune_classes(k.view(), labels, 3, options)[0].misclassified.value(), of_two + (1 - wrong_before) / 10,
              1e-12);
  options.machine.class_weights.each = {1, 2, 3};
  EXPECT_TRUE(tune_classes(k.view(), labels, 3, options)[0].misclassified);
  options.given_folds[0].test.push_back(3);
  EXPECT_THROW((void)tune_classes(k.view(), labels, 3, options), Error);
}

TEST(LogarithmicGrid, HasItsEnds) {
  const auto grid = logarithmic_grid(1e-2, 1e2, 5);
  ASSERT_EQ(grid.size(), 5U);
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(grid[static_cast<std::size_t>(i)], std::pow(10.0, i - 2), 1e-12 * std::pow(10.0, i - 2));
  EXPECT_THROW((void)logarithmic_grid(0, 1, 3), Error);
}

}  // namespace
}  // namespace widelimit
