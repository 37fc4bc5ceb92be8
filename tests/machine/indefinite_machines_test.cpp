#include "tests/machine/random_gram.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/multiclass.hpp"
#include "widelimit/machine/probability/platt.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/svm/svr.hpp"
#include "widelimit/machine/tune.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace widelimit {
namespace {

/// −I; a pair of samples that violates the Cauchy–Schwarz inequality; and an eigenvalue of −1e-6 whose eigenvector
/// involves many samples.
std::vector<Matrix<double>> indefinite_grams(Index n) {
  std::vector<Matrix<double>> grams;
  Matrix<double> negative(n, n);
  for (Index i = 0; i < n; ++i) negative(i, i) = -1;
  grams.push_back(std::move(negative));
  Matrix<double> pair(n, n);
  for (Index i = 0; i < n; ++i) pair(i, i) = 1;
  pair(0, 1) = pair(1, 0) = 2;
  grams.push_back(std::move(pair));
  Matrix<double> hidden = random_gram(n, n - 1, 3);
  for (Index i = 0; i < n; ++i) hidden(i, i) -= 1e-6;
  grams.push_back(std::move(hidden));
  return grams;
}

void expect_refused(const Fit& fit) {
  EXPECT_EQ(fit.summary.ending, Ending::not_positive_definite) << text(fit.summary.ending);
  EXPECT_NE(fit.summary.message.find("negative eigenvalue"), std::string::npos) << fit.summary.message;
  EXPECT_NE(fit.summary.message.find("to its diagonal"), std::string::npos) << fit.summary.message;
  EXPECT_FALSE(fit.summary.gap || fit.summary.dual || fit.summary.primal);
  for (Index i = 0; i < fit.alpha.rows() * fit.alpha.cols(); ++i) EXPECT_EQ(fit.alpha.data()[i], 0);
}

constexpr Index size = 12;

std::vector<Index> labels_of(Index classes) {
  std::vector<Index> labels;
  for (Index i = 0; i < size; ++i) labels.push_back(i % classes);
  return labels;
}

TEST(IndefiniteGram, IsFittedByNoMachine) {
  std::vector<double> weights(size, 2.0);
  weights[5] = 0;
  for (const Matrix<double>& k : indefinite_grams(size)) {
    for (const Machine machine : {Machine::svm, Machine::svm2, Machine::hard_svm, Machine::logistic}) {
      for (const bool bias : {false, true}) {
        for (const Index classes : {2, 3}) {
          for (const Scheme scheme : {Scheme::one_vs_one, Scheme::one_vs_rest}) {
            for (const bool weighted : {false, true}) {
              MachineOptions options{.machine = machine, .bias = bias, .probability = machine != Machine::logistic};
              if (machine != Machine::logistic) options.scheme = scheme;
              if (weighted) options.weights = weights;
              const FittedMachine trained = train_classes(k.view(), labels_of(classes), classes, options);
              expect_refused(trained.fit);
              for (const Sigmoid& sigmoid : trained.calibration) EXPECT_EQ(sigmoid.probability(0), 0.5);
            }
          }
        }
      }
    }
    const Matrix<double> y = random_gram(size, 1, 9);
    for (const bool bias : {false, true}) {
      expect_refused(fit_svr(k.view(), y.view().block(0, 0, size, 2), {.bias = bias}));
    }
  }
}

TEST(IndefiniteGram, IsFittedAlongNoPathAndInNoFold) {
  const std::vector<double> lambdas{0.1, 1, 10};
  for (const Matrix<double>& k : indefinite_grams(size)) {
    for (const Fit& fit : one_vs_one_path(k.view(), labels_of(3), 3, lambdas)) expect_refused(fit);
    for (const Fit& fit : one_vs_rest_path(k.view(), labels_of(3), 3, lambdas)) expect_refused(fit);
    TuneOptions tuning{.machine = {.machine = Machine::svm}, .lambdas = lambdas, .folds = 3};
    const auto points = tune_classes(k.view(), labels_of(2), 2, tuning);
    EXPECT_FALSE(best_point(points));
    for (const TunePoint& point : points) {
      EXPECT_EQ(point.unsolved, 3);
      EXPECT_NE(point.message.find("negative eigenvalue"), std::string::npos) << point.message;
    }
    std::vector<double> signs(size, 1.0);
    for (std::size_t i = 0; i < size; i += 2) signs[i] = -1;
    try {
      (void)held_out_decisions(k.view(), signs, 3);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::numerical);
    }
  }
}

TEST(IndefiniteGram, IsNoCovariance) {
  const Matrix<double> y = random_gram(size, 1, 9);
  for (const Matrix<double>& k : indefinite_grams(size)) {
    for (const double noise : {0.0, 10.0}) {
      const GaussianProcess process(k.view(), y.view().block(0, 0, size, 1), {.noise = noise});
      EXPECT_EQ(process.fit().summary.ending, Ending::not_positive_definite);
      EXPECT_TRUE(process.log_marginal_likelihood().empty());
    }
  }
}

/// The diagonal shift that the message suggests is sufficient.
TEST(IndefiniteGram, IsCuredByWhatItsMessageSays) {
  for (Matrix<double>& k : indefinite_grams(size)) {
    const MachineOptions options{.machine = Machine::svm};
    const std::string message = train_classes(k.view(), labels_of(2), 2, options).fit.summary.message;
    const double add = std::strtod(message.c_str() + message.find("add ") + 4, nullptr);
    EXPECT_GT(add, 0) << message;
    for (Index i = 0; i < size; ++i) k(i, i) += add;
    EXPECT_TRUE(train_classes(k.view(), labels_of(2), 2, options).fit.summary.converged()) << message;
  }
}

/// Without the test, negative curvature that the solver meets ends the fit as well.
TEST(IndefiniteGram, IsToldByTheSolverToo) {
  const auto grams = indefinite_grams(size);
  for (std::size_t g = 0; g < 2; ++g) {
    for (const Machine machine : {Machine::svm, Machine::svm2, Machine::hard_svm}) {
      for (const bool bias : {false, true}) {
        // The labels are chosen so that the pair is a step: the same class without a bias, different classes with one.
        std::vector<Index> labels = labels_of(2);
        const MachineOptions options{.machine = machine, .lambda = 1e-3, .bias = bias, .check_definite = false};
        const FittedMachine trained = train_classes(grams[g].view(), labels, 2, options);
        if (g == 0) {
          expect_refused(trained.fit);
        } else {
          EXPECT_NE(trained.fit.summary.ending, Ending::not_separable);
        }
      }
    }
  }
}

/// Ridge solves a system that its λ makes positive definite; if the solution shows that K is indefinite, no gap is
/// reported.
TEST(IndefiniteGram, LeavesRidgeWithoutAGap) {
  const auto grams = indefinite_grams(size);
  Matrix<double> y(size, 1);
  for (Index i = 0; i < size; ++i) y(i, 0) = static_cast<double>(i) - 4;
  const Fit fit = fit_ridge(grams[0].view(), y.view(), {.lambda = 8});
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_FALSE(fit.summary.gap || fit.summary.dual);
  EXPECT_NE(fit.summary.message.find("negative eigenvalue"), std::string::npos) << fit.summary.message;
  EXPECT_LE(*fit.summary.gradient, 1e-12);
}

}  // namespace
}  // namespace widelimit
