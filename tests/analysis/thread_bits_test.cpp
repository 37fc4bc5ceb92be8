#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/dynamics/ensemble.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/marginal_likelihood.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"

#include "tests/machine/noisy_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

/// All numbers of a result.
using Numbers = std::vector<double>;

void append(Numbers& numbers, const Matrix<double>& m) {
  numbers.insert(numbers.end(), m.data(), m.data() + m.rows() * m.cols());
}
void append(Numbers& numbers, const Fit& fit) {
  append(numbers, fit.alpha);
  numbers.insert(numbers.end(), fit.bias.begin(), fit.bias.end());
  for (const auto& value : {fit.summary.primal, fit.summary.dual, fit.summary.gap, fit.summary.condition}) {
    numbers.push_back(value.value_or(-1));
  }
}

/// Several tiles of every algorithm, the last one partial.
constexpr Index samples = 1111;

/// Samples with 11 features, two targets and three classes.
class ThreadBits : public ::testing::Test {
 protected:
  ThreadBits() : data_(noisy_samples(samples, {1, 1, 11}, 5)), targets_(samples, 2) {
    Gram found = gram(Network::parse("fc:2(b_std=0.1)"), data_.view(), {.kind = Kind::ntk}, *make_engine("cpu"));
    k_ = std::get<Matrix<double>>(std::move(found.ntk));
    single_ = Matrix<float>(samples, samples);
    std::transform(k_.data(), k_.data() + samples * samples, single_.data(),
                   [](double x) { return static_cast<float>(x); });
    Noise noise(3);
    for (Index i = 0; i < samples; ++i) {
      targets_(i, 0) = k_(i, 0) + 0.1 * noise();
      targets_(i, 1) = k_(i, 7) - k_(i, 3) + 0.1 * noise();
      labels_.push_back(i < 3 ? i : static_cast<Index>((noise() + 1) * 1.49));
    }
  }

  /// Expects identical bits on one, two, three and seven threads.
  template <typename Call>
  static void expect_same_bits(const std::string& name, const Call& call) {
    const Numbers one = call(*make_engine("cpu", {.threads = 1}));
    ASSERT_FALSE(one.empty());
    for (const int threads : {2, 3, 7}) {
      const Numbers many = call(*make_engine("cpu", {.threads = threads}));
      ASSERT_EQ(many.size(), one.size());
      const auto [here, there] = std::mismatch(one.begin(), one.end(), many.begin());
      EXPECT_EQ(here, one.end()) << name << " on " << threads << ": number " << here - one.begin() << " of "
                                 << one.size() << " is " << *there << ", on one " << *here;
    }
  }

  Dataset data_;
  Matrix<double> k_;
  Matrix<float> single_;
  Matrix<double> targets_;
  std::vector<Index> labels_;
};

TEST_F(ThreadBits, OfMachinesForClasses) {
  for (const Machine machine : {Machine::svm, Machine::svm2, Machine::ridge, Machine::regression, Machine::logistic}) {
    for (const AnyView k : {AnyView(k_.view()), AnyView(single_.view())}) {
      expect_same_bits(std::string(to_string(machine)), [&](const Engine& engine) {
        Numbers numbers;
        append(numbers, train_classes({k, engine}, labels_, 3, {.machine = machine, .lambda = 0.1}).fit);
        return numbers;
      });
    }
  }
}

TEST_F(ThreadBits, OfMachinesForNumbers) {
  for (const Machine machine : {Machine::ridge, Machine::regression, Machine::svr}) {
    expect_same_bits(std::string(to_string(machine)), [&](const Engine& engine) {
      Numbers numbers;
      const MachineOptions options{.machine = machine, .lambda = 0.1, .bias = true};
      append(numbers, train_values({k_.view(), engine}, targets_.view(), options).fit);
      return numbers;
    });
  }
}

TEST_F(ThreadBits, OfPathsPosteriorsAndConjugateGradients) {
  const std::vector<double> lambdas{1e-3, 0.1, 10};
  expect_same_bits("path", [&](const Engine& engine) {
    Numbers numbers;
    for (const RidgePoint& point : ridge_path({k_.view(), engine}, targets_.view(), lambdas).points) {
      append(numbers, point.fit);
      append(numbers, point.left_out);
    }
    return numbers;
  });
  expect_same_bits("Gaussian process", [&](const Engine& engine) {
    Numbers numbers;
    const GaussianProcess process({k_.view(), engine}, targets_.view(), {.noise = 0.1});
    append(numbers, process.fit());
    const std::vector<double> own(20, 3.0);
    const Posterior posterior = process.posterior(AnyView(k_.view().block(0, 0, 20, samples)), own);
    append(numbers, posterior.mean);
    numbers.insert(numbers.end(), posterior.variance.begin(), posterior.variance.end());
    append(
        numbers,
        process.joint_posterior(AnyView(k_.view().block(0, 0, 20, samples)), k_.view().block(0, 0, 20, 20)).covariance);
    return numbers;
  });
  expect_same_bits("marginal likelihood", [&](const Engine& engine) {
    const MarginalLikelihood found =
        marginal_likelihood(Network::parse("fc:2(b_std=0.1)"), data_.view(), targets_.view(), {.noise = 0.1}, engine);
    Numbers numbers(found.gradient.begin(), found.gradient.end());
    numbers.push_back(found.value);
    return numbers;
  });
  for (const std::optional<Index> rank : {std::optional<Index>(0), std::optional<Index>(200)}) {
    expect_same_bits("conjugate gradients", [&](const Engine& engine) {
      Numbers numbers;
      RidgeNetworkOptions options{.precision = Precision::f64};
      options.solver = {.lambda = 0.1, .rank = rank};
      const auto fit = fit_ridge(Network::parse("fc:2"), data_.view(), targets_.view(), options, engine);
      append(numbers, fit.fit);
      append(numbers, fit.decisions);
      return numbers;
    });
  }
}

TEST_F(ThreadBits, OfEnsembles) {
  expect_same_bits("ensemble", [&](const Engine& engine) {
    Numbers numbers;
    const Ensemble found = ensemble(Network::parse("fc:2"), data_.view(), targets_.view(), data_.view().part(0, 20),
                                    {.times = {0.01}, .covariance = true}, engine);
    append(numbers, found.mean);
    append(numbers, found.covariance);
    return numbers;
  });
}

TEST_F(ThreadBits, OfDynamicsAndBounds) {
  for (const LossKind kind : {LossKind::squared, LossKind::hinge, LossKind::logistic}) {
    Matrix<double> signs(samples, 1);
    for (Index i = 0; i < samples; ++i) signs(i, 0) = targets_(i, 0) > 0 ? 1 : -1;
    expect_same_bits("flow", [&](const Engine& engine) {
      Numbers numbers;
      FlowOptions options{.loss = {kind}, .lambda = 1, .times = {0.001, 0.01}};
      options.check_rate = false;
      append(numbers, flow({k_.view(), engine}, signs.view(), options).train);
      return numbers;
    });
    expect_same_bits("descent", [&](const Engine& engine) {
      Numbers numbers;
      DescendOptions options{.loss = {kind}, .lambda = 1, .rate = 1e-4, .steps = 20};
      append(numbers, descend({k_.view(), engine}, signs.view(), options).train);
      return numbers;
    });
  }
}

}  // namespace
}  // namespace widelimit
