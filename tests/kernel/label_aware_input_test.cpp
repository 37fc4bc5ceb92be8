#include "tests/base/random_graphs.hpp"
#include "tests/kernel/label_aware_definition.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

/// Inputs of label-aware kernels that do not fit together.
namespace widelimit {
namespace {

using Method = LabelAwareMethod;

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input) << error.what();
    return error.what();
  }
  return "";
}

Matrix<double> sized(Index rows, Index cols) {
  Matrix<double> k(rows, cols);
  std::fill_n(k.data(), rows * cols, 0.5);
  return k;
}

/// The training kernel keeps its values, so that it can be used again after the error.
TEST(LabelAwareInput, TestKernelsAreTestByTrainForEveryMethodAndRepair) {
  const auto engine = make_engine("cpu");
  const Problem problem(30, 7, 4, 2);
  for (const Method method : {Method::linear1, Method::kr1, Method::kr2}) {
    for (const Psd psd : {Psd::none, Psd::clip, Psd::shift}) {
      for (const auto& [rows, cols] : {std::pair<Index, Index>{7, 31}, {7, 29}, {7, 2000}, {30, 7}}) {
        AnyMatrix train = problem.k.copy();
        AnyMatrix test = sized(rows, cols);
        const std::string message = refusal([&] {
          (void)make_label_aware(train, &test, problem.sources(), problem.labels, 2, {.method = method, .psd = psd},
                                 *engine);
        });
        EXPECT_NE(message.find("test × train"), std::string::npos) << to_string(method) << cols << message;
        EXPECT_EQ(message.find("transpose") != std::string::npos, rows == 30) << message;
        EXPECT_TRUE(std::equal(problem.k.data(), problem.k.data() + 900, std::get<Matrix<double>>(train).data()));
      }
      AnyMatrix train = problem.k.copy();
      AnyMatrix test = sized(8, 30);
      const std::string message = refusal([&] {
        (void)make_label_aware(train, &test, problem.sources(), problem.labels, 2, {.method = method, .psd = psd},
                               *engine);
      });
      EXPECT_NE(message.find("8 rows for 7 test samples"), std::string::npos) << message;
    }
  }
}

TEST(LabelAwareInput, AFittedEstimatorRefusesKernelsOfOtherSizes) {
  const auto engine = make_engine("cpu");
  const Problem problem(30, 7, 4, 2);
  for (const Method method : {Method::linear1, Method::kr1}) {
    const LabelAware aware =
        fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 2, {.method = method});
    for (const auto& [rows, cols] : {std::pair<Index, Index>{7, 31}, {30, 7}}) {
      AnyMatrix test = sized(rows, cols);
      EXPECT_NE(refusal([&] {
                  (void)add_label_aware(aware, KernelPart::test, test, problem.sources(), *engine);
                }).find("test × train"),
                std::string::npos);
    }
  }
}

TEST(LabelAwareInput, ProjectionsRefuseOtherSizes) {
  const auto engine = make_engine("cpu");
  const Algebra& algebra = engine->algebra();
  Matrix<double> k(2, 2);
  k(0, 1) = k(1, 0) = 1;
  EngineMatrix held = algebra.copy_of(k.view());
  const SpectrumRepair repair = repair_spectrum(held, Psd::clip, *engine);
  ASSERT_EQ(repair.inertia.negative, 1);
  const Matrix<double> wide = sized(2, 3);
  EngineMatrix test = algebra.copy_of(wide.view());
  EXPECT_NE(refusal([&] { project_test(repair, test, *engine); }).find("give its transpose"), std::string::npos);
  Matrix<double> alpha = sized(3, 1);
  EXPECT_NE(refusal([&] { project_coefficients(repair, alpha.view(), *engine); }).find("3 rows"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)repair_spectrum(test, Psd::none, *engine); }).find("2 by 3"), std::string::npos);
}

TEST(LabelAwareInput, ValuesThatAreNotFiniteAreNamed) {
  const auto engine = make_engine("cpu");
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Problem problem(30, 7, 4, 2);
    const auto message = [&] {
      return refusal([&] {
        AnyMatrix train = problem.k.copy();
        AnyMatrix test = problem.k_test.copy();
        (void)make_label_aware(train, &test, problem.sources(), problem.labels, 2, {}, *engine);
      });
    };
    problem.x_test(5, 1) = value;
    EXPECT_EQ(message(), fmt::format("test sample 5 has {} at value 1; remove or replace it first", value));
    problem.x(12, 3) = value;
    problem.x_test(5, 1) = 0;
    EXPECT_EQ(message(), fmt::format("training sample 12 has {} at value 3; remove or replace it first", value));
  }
}

TEST(LabelAwareInput, GraphsAreSentToKernelRegression) {
  const auto engine = make_engine("cpu");
  const Problem problem(30, 7, 4, 2);
  const Graphs graphs = test::random_graphs(30, 5, 4);
  const auto fit = [&](Method method) {
    (void)fit_label_aware({problem.k.view(), *engine}, {SampleView(graphs)}, problem.labels, 2, {.method = method});
  };
  for (const Method method : {Method::linear1, Method::linear2, Method::fjlt1})
    EXPECT_NE(refusal([&] { fit(method); }).find("choose kr1 or kr2"), std::string::npos);
  EXPECT_NO_THROW(fit(Method::kr1));
}

/// Eigenvalues −3, 1 and a third one: only a small one is a reason for the warning, and only if it is kept.
TEST(LabelAwareInput, AnEigenvalueNearZeroIsAWarning) {
  const auto engine = make_engine("cpu");
  for (const double third : {1e-3, 1e-9, -1e-9, 0.0}) {
    Matrix<double> k(3, 3);
    k(0, 0) = -3;
    k(1, 1) = 1;
    k(2, 2) = third;
    EngineMatrix held = engine->algebra().copy_of(k.view());
    const SpectrumRepair repair = repair_spectrum(held, Psd::none, *engine);
    EXPECT_NEAR(repair.nearest, std::abs(third), 1e-15);
    EXPECT_NEAR(repair.mean, (4 + std::abs(third)) / 3, 1e-14);
    EXPECT_EQ(near_zero_warning(repair).empty(), third == 1e-3) << third;
    EXPECT_TRUE(near_zero_warning(repair_spectrum(held, Psd::shift, *engine)).empty());
  }
  EXPECT_TRUE(near_zero_warning({}).empty());
}

}  // namespace
}  // namespace widelimit
