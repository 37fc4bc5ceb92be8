#include "widelimit/network/activation.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <thread>

namespace widelimit {
namespace {

Activation phi(Phi name, Index degree = 2) {
  Activation result;
  result.phi = name;
  result.degree = degree;
  if (name == Phi::polynomial) result.coef = {0.3, -1.0, 0.5, 0.25, -0.1};
  if (name == Phi::leaky_relu) result.slope = 0.2;
  if (name == Phi::rbf) result.gamma = 0.7;
  return result;
}

std::vector<Activation> all_but_custom() {
  std::vector<Activation> all;
  for (int i = 0; i < static_cast<int>(Phi::custom); ++i) all.push_back(phi(static_cast<Phi>(i)));
  for (const Index degree : {0, 1, 3, 5}) {
    for (const Phi name : {Phi::monomial, Phi::rectified_monomial, Phi::hermite}) all.push_back(phi(name, degree));
  }
  return all;
}

// Central differences of order four have the error h⁴·φ⁽⁵⁾/30 and rounding ε·|φ|/h: for h = 1e-3 both are below 1e-9 of
// the magnitudes that occur here. Points keep a distance of 0.1 from kinks and jumps at 0.
TEST(Activation, DerivativeAgreesWithFiniteDifferences) {
  const double h = 1e-3;
  for (const Activation& activation : all_but_custom()) {
    SCOPED_TRACE(std::string(to_string(activation.phi)) + " degree " + std::to_string(activation.degree));
    for (std::uint64_t i = 0; i < 200; ++i) {
      const double x = (i % 2 == 0 ? 1 : -1) * (0.1 + 2.9 * Random(5).uniform(i));
      const auto f = [&](double shift) { return evaluate(activation, x + shift * h); };
      const double difference = (8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * h);
      EXPECT_NEAR(derivative(activation, x), difference, 1e-8 * (1 + std::abs(difference))) << x;
    }
  }
}

TEST(Activation, RightHandValueAtKinksAndZeroAtJumps) {
  EXPECT_EQ(derivative(phi(Phi::relu), 0), 1);
  EXPECT_EQ(derivative(phi(Phi::leaky_relu), 0), 1);
  EXPECT_EQ(derivative(phi(Phi::abs), 0), 1);
  EXPECT_EQ(derivative(phi(Phi::sign), 0), 0);
  EXPECT_EQ(derivative(phi(Phi::rectified_monomial, 0), 0), 0);
  EXPECT_EQ(derivative(phi(Phi::rectified_monomial, 1), 0), 1);
  EXPECT_EQ(evaluate(phi(Phi::rectified_monomial, 0), 0), 1);
  EXPECT_EQ(evaluate(phi(Phi::sign), 0), 0);
  EXPECT_EQ(evaluate(phi(Phi::monomial, 0), 0), 1);
}

TEST(Activation, FarOutIsFinite) {
  for (const Phi name : {Phi::relu, Phi::leaky_relu, Phi::abs, Phi::erf, Phi::gelu, Phi::sin, Phi::cos, Phi::sign,
                         Phi::gaussian, Phi::rbf, Phi::identity, Phi::tanh, Phi::sigmoid, Phi::swish, Phi::softplus}) {
    for (const double size : {0.0, 1e-300, 30.0, 700.0, 1e4, 1e150, 1e300}) {
      for (const double x : {size, -size}) {
        EXPECT_TRUE(std::isfinite(evaluate(phi(name), x))) << to_string(name) << " at " << x;
        EXPECT_TRUE(std::isfinite(derivative(phi(name), x))) << to_string(name) << " at " << x;
      }
    }
  }
  EXPECT_EQ(evaluate(phi(Phi::softplus), 800), 800);
  EXPECT_NEAR(evaluate(phi(Phi::softplus), -40) / std::exp(-40.0), 1, 1e-15);
  EXPECT_NEAR(evaluate(phi(Phi::sigmoid), -40) / std::exp(-40.0), 1, 1e-15);
  EXPECT_NEAR(derivative(phi(Phi::sigmoid), 40) / std::exp(-40.0), 1, 1e-15);
  EXPECT_EQ(evaluate(phi(Phi::swish), -1e4), 0);
  EXPECT_NEAR(evaluate(phi(Phi::gelu), -10) / (-10 * 7.61985302416052606597e-24), 1, 1e-13);  // Φ(−10)
}

TEST(Activation, HermiteIsOrthonormalUnderTheGaussian) {
  // The trapezoidal rule converges faster than any power of the step for an integrand with Gaussian decay.
  for (Index m = 0; m < 6; ++m) {
    for (Index n = 0; n < 6; ++n) {
      double sum = 0;
      for (double x = -15; x <= 15; x += 0.05) {
        sum += 0.05 * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi) * evaluate(phi(Phi::hermite, m), x) *
               evaluate(phi(Phi::hermite, n), x);
      }
      EXPECT_NEAR(sum, m == n ? 1 : 0, 1e-12);
    }
  }
  EXPECT_NEAR(evaluate(phi(Phi::hermite, 3), 2.0), (8 - 6) / std::sqrt(6.0), 1e-15);
}

TEST(Activation, NamesAreDistinct) {
  EXPECT_EQ(to_string(Phi::relu), "relu");
  EXPECT_EQ(to_string(Phi::rectified_monomial), "rectified_monomial");
  EXPECT_EQ(to_string(Phi::custom), "custom");
}

Activation custom(const std::string& name) {
  Activation result;
  result.phi = Phi::custom;
  result.name = name;
  return result;
}

Function times(double factor) {
  return [factor](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = factor * x[i];
  };
}

TEST(Custom, IsFoundByNameAndReplaced) {
  register_activation("double_it", times(2));
  EXPECT_EQ(evaluate(custom("double_it"), 3), 6);
  const auto held = find_activation("double_it");
  register_activation("double_it", times(20));
  EXPECT_EQ(evaluate(custom("double_it"), 3), 60);
  double x = 1;
  double y = 0;
  (*held)({&x, 1}, {&y, 1});  // references to the old function keep it
  EXPECT_EQ(y, 2);
  EXPECT_THROW((void)derivative(custom("double_it"), 0), Error);
}

TEST(Custom, MisuseIsNamed) {
  register_activation("known_one", times(1));
  try {
    (void)find_activation("unknown_one");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    EXPECT_NE(std::string(error.what()).find("unknown_one"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("known_one"), std::string::npos);
  }
  EXPECT_THROW(register_activation("two words", times(1)), Error);
  EXPECT_THROW(register_activation("", times(1)), Error);
  EXPECT_THROW(register_activation("empty", Function()), Error);
}

TEST(Custom, ManyThreadsRegisterAndRead) {
  register_activation("shared_0", times(1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 500; ++i) {
        register_activation("shared_" + std::to_string(t), times(1));
        EXPECT_EQ(evaluate(custom("shared_0"), 5), 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace widelimit
