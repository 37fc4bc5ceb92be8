#include "widelimit/kernel/classical/classical.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/kernel/classical/arccosine.hpp"

#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace widelimit {
namespace {

using Name = ClassicalKernel::Name;
using Real = long double;
constexpr double eps = std::numeric_limits<double>::epsilon();

SampleView view(const Matrix<double>& x) { return {x.view(), Shape{1, 1, x.cols()}}; }

Matrix<double> gram(const ClassicalKernel& kernel, const Matrix<double>& x1, int threads = 2) {
  return std::get<Matrix<double>>(
      classical_gram(kernel, view(x1), {}, Precision::f64, *make_engine("cpu", {.threads = threads})));
}
Matrix<double> gram(const ClassicalKernel& kernel, const Matrix<double>& x1, const Matrix<double>& x2) {
  return std::get<Matrix<double>>(classical_gram(kernel, view(x1), view(x2), Precision::f64));
}

/// J_n by Cho & Saul's integral, whose terms are positive; double exponential quadrature with ψ = π/2·(1 + tanh(sinh
/// t))/2.
Real angular(Index n, Real theta) {
  const Real c = std::cos(theta);
  Real sum = 0;
  const Real step = 0.04L;
  for (int k = -100; k <= 100; ++k) {
    const Real t = step * static_cast<Real>(k);
    const Real s = std::numbers::pi_v<Real> / 2 * std::sinh(t);
    const Real psi = std::numbers::pi_v<Real> / 4 * (1 + std::tanh(s));
    const Real weight =
        step * std::numbers::pi_v<Real> * std::numbers::pi_v<Real> / 8 * std::cosh(t) / (std::cosh(s) * std::cosh(s));
    const Real base = 1 - c * std::cos(psi);
    sum += weight * std::pow(std::cos(psi), static_cast<Real>(n)) / std::pow(base, static_cast<Real>(n + 1));
  }
  return std::tgamma(static_cast<Real>(n + 1)) * std::pow(std::sin(theta), static_cast<Real>(2 * n + 1)) * sum;
}

Real brute_force(const ClassicalKernel& kernel, const double* x, const double* y, Index d) {
  Real inner = 0, xx = 0, yy = 0, square = 0, absolute = 0;
  for (Index k = 0; k < d; ++k) {
    const Real a = x[k], b = y[k];
    inner += a * b;
    xx += a * a;
    yy += b * b;
    square += (a - b) * (a - b);
    absolute += std::abs(a - b);
  }
  const Real gamma = kernel.gamma.value_or(1.0 / static_cast<double>(d));
  switch (kernel.name) {
    case Name::linear:
      return inner;
    case Name::polynomial:
      return std::pow(gamma * inner + static_cast<Real>(kernel.offset), static_cast<Real>(kernel.degree));
    case Name::rbf:
      return std::exp(-gamma * square);
    case Name::laplace:
      return std::exp(-gamma * absolute);
    case Name::arccosine:
      break;
  }
  const Real theta = std::acos(std::fmax(-1.0L, std::fmin(1.0L, inner / std::sqrt(xx * yy))));
  return std::pow(xx * yy, static_cast<Real>(kernel.degree) / 2) * angular(kernel.degree, theta) /
         std::numbers::pi_v<Real>;
}

std::vector<ClassicalKernel> all_kernels() {
  return {{.name = Name::linear, .gamma = {}},
          {.name = Name::polynomial, .gamma = {}},
          {.name = Name::polynomial, .gamma = 0.5, .offset = -1.0, .degree = 2},
          {.name = Name::rbf, .gamma = {}},
          {.name = Name::rbf, .gamma = 2.0},
          {.name = Name::laplace, .gamma = {}},
          {.name = Name::arccosine, .gamma = {}, .degree = 0},
          {.name = Name::arccosine, .gamma = {}, .degree = 1},
          {.name = Name::arccosine, .gamma = {}, .degree = 2},
          {.name = Name::arccosine, .gamma = {}, .degree = 5},
          {.name = Name::arccosine, .gamma = {}, .degree = 8}};
}

TEST(Classical, AgreesWithBruteForceInLongDouble) {
  for (const Index n : {0, 1, 2, 37, 150}) {
    const auto x1 = normal_rows(n, 7, 1);
    const auto x2 = normal_rows(n / 2 + 1, 7, 2);
    for (const auto& kernel : all_kernels()) {
      const auto k = gram(kernel, x1, x2);
      ASSERT_EQ(k.rows(), n);
      for (Index i = 0; i < k.rows(); i += 3) {
        for (Index j = 0; j < k.cols(); j += 5) {
          const Real expected = brute_force(kernel, x1.data() + 7 * i, x2.data() + 7 * j, 7);
          // Rounding of the inner product, up to d·eps of the product of the norms, amplified by the power.
          const Real scale = kernel.name == Name::linear || kernel.name == Name::polynomial ? 1e3L : std::abs(expected);
          EXPECT_NEAR(k(i, j), static_cast<double>(expected), static_cast<double>(400 * eps * scale))
              << kernel.to_text() << " n=" << n << " (" << i << "," << j << ")";
        }
      }
    }
  }
}

TEST(Classical, SymmetricHalfIsExactlySymmetricAndEqualsTheRectangle) {
  const auto x = normal_rows(150, 11, 3);
  for (const auto& kernel : all_kernels()) {
    const auto half = gram(kernel, x);
    const auto full = gram(kernel, x, x);
    for (Index i = 0; i < 150; ++i) {
      for (Index j = 0; j < 150; ++j) {
        EXPECT_EQ(half(i, j), half(j, i));
        EXPECT_NEAR(half(i, j), full(i, j), 1e-12 * (std::sqrt(half(i, i) * half(j, j)) + std::abs(full(i, j))));
      }
    }
  }
}

TEST(Classical, ThreadsDoNotChangeABit) {
  const auto x = normal_rows(300, 33, 4);
  for (const auto& kernel : all_kernels()) {
    const auto one = gram(kernel, x, 1);
    const auto many = gram(kernel, x, 5);
    EXPECT_TRUE(std::equal(one.data(), one.data() + 300 * 300, many.data())) << kernel.to_text();
  }
}

TEST(Classical, FloatInputAndResult) {
  const auto x = normal_rows(5, 3, 5);
  Matrix<float> narrow(5, 3);
  for (Index i = 0; i < 15; ++i) narrow.data()[i] = static_cast<float>(x.data()[i]);
  const SampleView samples(std::as_const(narrow).view(), Shape{1, 1, 3});
  const auto k = std::get<Matrix<float>>(classical_gram({}, samples, {}, Precision::f32));
  const auto exact = gram({}, x);
  for (Index i = 0; i < 25; ++i) EXPECT_NEAR(k.data()[i], exact.data()[i], 1e-6);
}

TEST(Classical, RbfKeepsTheDigitsOfSmallDistances) {
  Matrix<double> x(2, 3);
  const std::array<double, 6> values{1e6, 2e6, 3e6, 1e6 + 1e-4, 2e6, 3e6};
  std::copy(values.begin(), values.end(), x.data());
  const ClassicalKernel kernel{.name = Name::rbf, .gamma = 1e8};
  const auto k = gram(kernel, x);
  EXPECT_EQ(k(0, 0), 1.0);
  const double exact = static_cast<double>(brute_force(kernel, x.data(), x.data() + 3, 3));
  EXPECT_NEAR(k(0, 1), exact, 8 * eps);
  EXPECT_LT(k(0, 1), 0.5);
}

TEST(Classical, RbfSeesSmallRowsBesideHugeOnes) {
  Matrix<double> x(3, 2);
  const std::array<double, 6> values{1e-150, 0, 2e-150, 0, 1e150, 1e150};
  std::copy(values.begin(), values.end(), x.data());
  const auto k = gram({.name = Name::rbf, .gamma = 1e300}, x);
  EXPECT_NEAR(k(0, 1), std::exp(-1.0), 1e-15);
  EXPECT_EQ(k(0, 2), 0.0);
  EXPECT_EQ(k(2, 2), 1.0);
}

TEST(Classical, ZeroRowsStandAtARightAngle) {
  Matrix<double> x(3, 2);
  const std::array<double, 6> values{0, 0, 3, 4, 0, 0};
  std::copy(values.begin(), values.end(), x.data());
  const auto order0 = gram({.name = Name::arccosine, .gamma = {}, .degree = 0}, x);
  EXPECT_DOUBLE_EQ(order0(0, 1), 0.5);
  EXPECT_DOUBLE_EQ(order0(0, 2), 0.5);
  EXPECT_DOUBLE_EQ(order0(1, 1), 1.0);
  const auto order1 = gram({.name = Name::arccosine, .gamma = {}, .degree = 1}, x);
  EXPECT_EQ(order1(0, 1), 0.0);
  EXPECT_DOUBLE_EQ(order1(1, 1), 25.0);
  const auto rbf = gram({}, x);
  EXPECT_EQ(rbf(0, 2), 1.0);
  EXPECT_DOUBLE_EQ(rbf(0, 1), std::exp(-12.5));
}

TEST(Classical, ExtremeScales) {
  for (const double scale : {1e-150, 1e150}) {
    const auto unit = normal_rows(4, 5, 6);
    auto x = normal_rows(4, 5, 6, scale);
    const auto k = gram({.name = Name::arccosine, .gamma = {}, .degree = 1}, x);
    const auto reference = gram({.name = Name::arccosine, .gamma = {}, .degree = 1}, unit);
    const auto linear = gram({.name = Name::linear, .gamma = {}}, x);
    const auto rbf = gram({.name = Name::rbf, .gamma = 1 / (scale * scale)}, x);
    const auto rbf_reference = gram({.name = Name::rbf, .gamma = 1.0}, unit);
    for (Index i = 0; i < 16; ++i) {
      EXPECT_NEAR(k.data()[i] / (scale * scale), reference.data()[i], 1e-13 * (1 + reference.data()[i]));
      EXPECT_TRUE(std::isfinite(linear.data()[i]));
      EXPECT_NEAR(rbf.data()[i], rbf_reference.data()[i], 1e-13);
    }
  }
}

TEST(Classical, OverflowNamesThePair) {
  Matrix<double> x(2, 1);
  x(0, 0) = 1.0;
  x(1, 0) = 1e150;
  try {
    (void)gram({.name = Name::polynomial, .gamma = {}, .degree = 2}, x);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_NE(std::string(error.what()).find("sample 1 against sample 1"), std::string::npos) << error.what();
  }
  EXPECT_THROW((void)classical_gram({.name = Name::linear, .gamma = {}}, view(x), {}, Precision::f32), Error);
}

TEST(Classical, BadInput) {
  auto x = normal_rows(3, 2, 7);
  const auto other = normal_rows(3, 4, 7);
  EXPECT_THROW((void)gram({}, x, other), Error);
  EXPECT_THROW((void)gram({.name = Name::rbf, .gamma = -1.0}, x), Error);
  EXPECT_THROW((void)gram({.name = Name::arccosine, .gamma = {}, .degree = 9}, x), Error);
  EXPECT_THROW((void)gram({}, x, -1), Error);
  x(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)gram({}, x), Error);
}

struct Stop : Progress {
  bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
};

TEST(Classical, ProgressCanStopTheWork) {
  const auto x = normal_rows(3, 2, 7);
  Stop stop;
  try {
    (void)classical_gram({}, view(x), {}, Precision::f64, all_processors(), &stop);
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

TEST(Classical, TextRoundTrip) {
  for (const auto& kernel : all_kernels()) EXPECT_EQ(ClassicalKernel::parse(kernel.to_text()), kernel);
  const ClassicalKernel expected{.name = Name::polynomial, .gamma = 0.1, .offset = 2.0, .degree = 4};
  EXPECT_EQ(ClassicalKernel::parse(" polynomial( degree = 4,offset=2 , gamma=1e-1 ) "), expected);
  EXPECT_EQ(ClassicalKernel::parse("rbf()").to_text(), "rbf");
  for (const char* wrong :
       {"", "gauss", "rbf(", "rbf(gamma)", "rbf(gamma=)", "rbf(gamma=x)", "rbf(gamma=0)", "rbf(degree=2)", "linear(1)",
        "polynomial(degree=0)", "polynomial(degree=2.5)", "arccosine(degree=9)", "rbf(gamma=1,)", "rbf(gamma=nan)"}) {
    EXPECT_THROW((void)ClassicalKernel::parse(wrong), Error) << wrong;
  }
}

TEST(ArccosineKernel, PublishedForms) {
  for (const double theta : {0.0, 0.3, 1.2, 1.6, 2.5, 3.0}) {
    const double c = std::cos(theta);
    const double s = std::sin(theta);
    const Angle angle = Angle::from_distance(1 - std::abs(c), c >= 0);
    const double supplement = std::numbers::pi - theta;
    EXPECT_NEAR(ArccosineKernel(0)(angle), supplement, 1e-14);
    EXPECT_NEAR(ArccosineKernel(1)(angle), s + supplement * c, 1e-14);
    EXPECT_NEAR(ArccosineKernel(2)(angle), 3 * s * c + supplement * (1 + 2 * c * c), 1e-13);
  }
}

TEST(ArccosineKernel, RelativeAccuracyAtEveryAngle) {
  for (Index n = 0; n <= ArccosineKernel::max_order; ++n) {
    const ArccosineKernel angular_part(n);
    for (const double theta : {0.2, 0.9, 1.5, 1.58, 2.0, 2.9, 3.1, 3.14159}) {
      const Real to_axis = std::fmin(static_cast<Real>(theta), std::numbers::pi_v<Real> - static_cast<Real>(theta));
      const Real t = 2 * std::sin(to_axis / 2) * std::sin(to_axis / 2);
      const double value = angular_part(Angle::from_distance(static_cast<double>(t), theta < std::numbers::pi / 2));
      const double exact = static_cast<double>(angular(n, theta));
      EXPECT_NEAR(value / exact, 1.0, 1e-12 * static_cast<double>(n + 1)) << "n=" << n << " theta=" << theta;
    }
  }
}

}  // namespace
}  // namespace widelimit
