#include "widelimit/base/error.hpp"
#include "widelimit/machine/logistic/logistic.hpp"
#include "widelimit/machine/logistic/softmax.hpp"
#include "widelimit/machine/multiclass.hpp"
#include "widelimit/machine/svm/svr.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace widelimit {

namespace {

const std::vector<double> signs{1, -1, 1, -1, 1, -1};
const std::vector<Index> three_classes{0, 1, 2, 0, 1, 2};

/// The identity except for entry (2, 4).
Matrix<double> gram_with(double value) {
  Matrix<double> k(6, 6);
  for (Index i = 0; i < 6; ++i) k(i, i) = 1;
  k(2, 4) = value;
  return k;
}

std::vector<std::function<Fit(const AnyView&)>> machines() {
  static const MatrixView<const double> targets{signs.data(), 6, 1, 1};
  return {[](const AnyView& k) { return fit_svm(k, signs); },
          [](const AnyView& k) { return fit_svm2(k, signs); },
          [](const AnyView& k) { return fit_hard_svm(k, signs); },
          [](const AnyView& k) { return fit_one_vs_one(k, three_classes, 3); },
          [](const AnyView& k) { return fit_one_vs_rest(k, three_classes, 3); },
          [](const AnyView& k) { return fit_svr(k, targets); },
          [](const AnyView& k) { return fit_logistic(k, signs); },
          [](const AnyView& k) { return fit_softmax(k, three_classes, 3); }};
}

void expect_refused(double value, const std::string& message) {
  const Matrix<double> k = gram_with(value);
  for (const auto& fit : machines()) {
    try {
      (void)fit(k.view());
      ADD_FAILURE() << "entry " << value << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

}  // namespace

TEST(GramOfEveryMachine, EntriesThatAreNotFiniteAreNamed) {
  expect_refused(std::numeric_limits<double>::quiet_NaN(), "(2, 4)");
  expect_refused(std::numeric_limits<double>::infinity(), "(2, 4)");
}

TEST(GramOfEveryMachine, MustBeSymmetric) { expect_refused(0.5, "not symmetric"); }

TEST(GramOfEveryMachine, GoodOnesAreTaken) {
  const Matrix<double> k = gram_with(0);
  for (const auto& fit : machines()) EXPECT_TRUE(fit(k.view()).summary.converged());
}

}  // namespace widelimit
