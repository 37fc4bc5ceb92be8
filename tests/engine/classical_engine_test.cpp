#include "tests/base/normal_rows.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/classical/classical.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

class ClassicalEngine : public test::BesideCpu {
 protected:
  /// Products on a device differ in the last bits, which gives errors of a few eps·√d of the exponent or of the base,
  /// as on the host.
  void expect_like_the_processor(const ClassicalKernel& kernel, const SampleView& x,
                                 const std::optional<SampleView>& z) const {
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const AnyMatrix expected = classical_gram(kernel, x, z, precision, *cpu_);
      const AnyMatrix found = classical_gram(kernel, x, z, precision, *engine_);
      std::visit(
          [&]<typename T>(const Matrix<T>& left) {
            const auto& right = std::get<Matrix<T>>(expected);
            ASSERT_EQ(left.rows(), right.rows());
            ASSERT_EQ(left.cols(), right.cols());
            const double allowed = precision == Precision::f64 ? 1e-12 : 2e-7;
            for (Index k = 0; k < left.rows() * left.cols(); ++k) {
              const auto value = static_cast<double>(right.data()[k]);
              EXPECT_NEAR(static_cast<double>(left.data()[k]), value, allowed * std::abs(value) + 1e-300);
            }
          },
          found);
    }
  }
};

const std::vector<ClassicalKernel> kernels{
    ClassicalKernel::parse("polynomial(degree=3, gamma=0.1)"), ClassicalKernel::parse("rbf(gamma=0.02)"),
    ClassicalKernel::parse("laplace(gamma=0.02)"), ClassicalKernel::parse("arccosine(degree=1)")};

TEST_P(ClassicalEngine, EqualsTheProcessor) {
  const Matrix<double> x = normal_rows(37, 19, 1);
  const Matrix<double> z = normal_rows(5, 19, 2);
  const Shape shape{1, 1, 19};
  for (const ClassicalKernel& kernel : kernels) {
    SCOPED_TRACE(kernel.to_text());
    expect_like_the_processor(kernel, {x.view(), shape}, std::nullopt);
    expect_like_the_processor(kernel, {z.view(), shape}, SampleView{x.view(), shape});
    for (const Index n : {0, 1})
      expect_like_the_processor(kernel, SampleView{x.view(), shape}.part(0, n), std::nullopt);
  }
}

/// Distances of 1e-6 of the norm and angles near 0 stay accurate.
TEST_P(ClassicalEngine, KeepsTheDigitsOfSmallDistances) {
  Matrix<double> x = normal_rows(6, 19, 1);
  for (Index i = 1; i < 6; ++i) {
    for (Index k = 0; k < 19; ++k) x(i, k) = 100 * x(0, k) + 1e-4 * x(i, k);
  }
  for (Index k = 0; k < 19; ++k) x(0, k) *= 100;
  const SampleView samples{x.view(), {1, 1, 19}};
  expect_like_the_processor(ClassicalKernel::parse("rbf(gamma=1e6)"), samples, std::nullopt);
  expect_like_the_processor(ClassicalKernel::parse("arccosine(degree=0)"), samples, std::nullopt);
}

TEST_P(ClassicalEngine, ScalesBeyondTheRangeOfProducts) {
  Matrix<double> x = normal_rows(7, 5, 1, 1e150);
  for (Index k = 0; k < 5; ++k) x(3, k) = 0;
  expect_like_the_processor(ClassicalKernel::parse("rbf(gamma=1e-301)"), {x.view(), {1, 1, 5}}, std::nullopt);
  try {
    (void)classical_gram(ClassicalKernel::parse("polynomial(degree=3)"), {x.view(), {1, 1, 5}}, std::nullopt,
                         Precision::f64, *engine_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
  }
  x(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)classical_gram(kernels.front(), {x.view(), {1, 1, 5}}, std::nullopt, Precision::f64, *engine_),
               Error);
}

TEST_P(ClassicalEngine, IsExactlySymmetric) {
  const Matrix<double> x = normal_rows(1100, 3, 4);
  const AnyMatrix found = classical_gram(kernels[1], {x.view(), {1, 1, 3}}, std::nullopt, Precision::f64, *engine_);
  const auto& k = std::get<Matrix<double>>(found);
  for (Index i = 0; i < k.rows(); ++i) {
    for (Index j = 0; j < i; ++j) ASSERT_EQ(k(i, j), k(j, i));
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ClassicalEngine, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace widelimit
