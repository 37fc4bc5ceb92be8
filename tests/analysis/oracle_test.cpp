#include "tests/machine/random_gram.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/ridge/conjugate_gradient.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Every solver on the reference engine, which factorises and solves in long double, against the CPU engine.
class Oracle : public testing::Test {
 protected:
  static constexpr Index n = 45;

  Oracle() : k_(random_gram(n, n + 5)), y_(n, 2) {
    Noise noise(4);
    for (Index i = 0; i < n; ++i) {
      y_(i, 0) = noise();
      y_(i, 1) = noise();
      labels_.push_back(i < 3 ? i : static_cast<Index>((noise() + 1) * 1.49));
    }
  }

  [[nodiscard]] GramMatrix on_cpu() const { return {k_.view(), *cpu_}; }
  [[nodiscard]] GramMatrix on_oracle() const { return {k_.view(), *oracle_}; }

  static void expect_near(const Matrix<double>& a, const Matrix<double>& b, double allowed) {
    ASSERT_EQ(a.rows(), b.rows());
    ASSERT_EQ(a.cols(), b.cols());
    for (Index i = 0; i < a.rows() * a.cols(); ++i) EXPECT_NEAR(a.data()[i], b.data()[i], allowed);
  }

  std::unique_ptr<Engine> cpu_ = make_engine("cpu");
  std::unique_ptr<Engine> oracle_ = make_engine("reference");
  Matrix<double> k_;
  Matrix<double> y_;
  std::vector<Index> labels_;
};

/// A gap of 1e-10 determines coefficients up to its square root.
TEST_F(Oracle, FitsTheSameMachines) {
  for (const Machine machine : {Machine::regression, Machine::ridge, Machine::svm, Machine::svm2, Machine::logistic}) {
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(std::string(to_string(machine)) + (bias ? " with a bias" : ""));
      const MachineOptions options{.machine = machine, .lambda = 0.3, .bias = bias, .tolerance = 1e-10};
      const FittedMachine ours = train_classes(on_cpu(), labels_, 3, options);
      const FittedMachine exact = train_classes(on_oracle(), labels_, 3, options);
      ASSERT_TRUE(ours.fit.summary.converged());
      ASSERT_TRUE(exact.fit.summary.converged());
      expect_near(ours.fit.alpha, exact.fit.alpha, machine == Machine::regression ? 1e-9 : 1e-4);
      if (exact.fit.summary.primal) {
        EXPECT_NEAR(*ours.fit.summary.primal, *exact.fit.summary.primal, 1e-9 * *exact.fit.summary.primal + 1e-12);
      }
    }
  }
  const MachineOptions svr{.machine = Machine::svr, .lambda = 0.3, .epsilon = 0.05, .tolerance = 1e-10};
  const FittedMachine ours = train_values(on_cpu(), y_.view(), svr);
  const FittedMachine exact = train_values(on_oracle(), y_.view(), svr);
  EXPECT_NEAR(*ours.fit.summary.primal, *exact.fit.summary.primal, 1e-8 * *exact.fit.summary.primal);
}

TEST_F(Oracle, HasTheSamePathsPosteriorsAndFlows) {
  const std::vector<double> lambdas{0.01, 1, 100};
  const RidgePath ours = ridge_path(on_cpu(), y_.view(), lambdas);
  const RidgePath exact = ridge_path(on_oracle(), y_.view(), lambdas);
  for (Index i = 0; i < 3; ++i) {
    expect_near(ours.alpha(i), exact.alpha(i), 1e-10);
    EXPECT_NEAR(*ours.loo_error(i), *exact.loo_error(i), 1e-9 * *exact.loo_error(i));
  }
  const GaussianProcess process(on_cpu(), y_.view(), {.noise = 0.2});
  const GaussianProcess oracle(on_oracle(), y_.view(), {.noise = 0.2});
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(process.log_marginal_likelihood()[j], oracle.log_marginal_likelihood()[j], 1e-11);
  }
  const auto found = conjugate_gradients(on_cpu(), y_.view(), {.lambda = 0.5, .tolerance = 1e-12});
  const auto checked = conjugate_gradients(on_oracle(), y_.view(), {.lambda = 0.5, .tolerance = 1e-12});
  expect_near(found.fit.alpha, checked.fit.alpha, 1e-10);
  const FlowOptions options{.lambda = 0.1, .times = {0.01, 1, 50}};
  expect_near(flow(on_cpu(), y_.view(), options).train, flow(on_oracle(), y_.view(), options).train, 1e-10);
}

}  // namespace
}  // namespace widelimit
