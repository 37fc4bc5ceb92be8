#include "widelimit/kernel/label_aware/spectrum_repair.hpp"

#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace widelimit {
namespace {

/// A kernel with known eigenvalues.
class SpectrumRepairTest : public ::testing::TestWithParam<std::string> {
 protected:
  SpectrumRepairTest() : engine_(test::engine_named(GetParam())) {
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        const double h = (i == j ? 1.0 : 0.0) - 2 * v_[usize(i)] * v_[usize(j)];
        householder_(i, j) = h;
      }
    }
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        for (Index e = 0; e < 3; ++e) k_(i, j) += householder_(e, i) * values_[usize(e)] * householder_(e, j);
      }
    }
  }
  [[nodiscard]] Matrix<double> read(const EngineMatrix& a) const {
    Matrix<double> host(a.rows(), a.cols());
    engine_->algebra().read(a, host.view());
    return host;
  }
  std::unique_ptr<Engine> engine_;
  std::array<double, 3> v_{1.0 / 3, 2.0 / 3, 2.0 / 3};
  std::array<double, 3> values_{-2, 1, 5};
  Matrix<double> householder_{3, 3};
  Matrix<double> k_{3, 3};
};

TEST_P(SpectrumRepairTest, CountsSignsAndShifts) {
  const Algebra& algebra = engine_->algebra();
  EngineMatrix k = algebra.copy_of(k_.view());
  const SpectrumRepair repair = repair_spectrum(k, Psd::none, *engine_);
  EXPECT_EQ(repair.inertia, (Inertia{1, 0, 2}));
  EXPECT_NEAR(repair.smallest, -2, 1e-12);
  EXPECT_NEAR(repair.largest, 5, 1e-12);
  EXPECT_NEAR(read(k)(0, 0), k_(0, 0), 1e-15);
  EXPECT_NEAR(repair_spectrum(k, Psd::shift, *engine_).shift, 2, 1e-12);
  EXPECT_NEAR(read(k)(1, 1), k_(1, 1) + 2, 1e-12);
  EXPECT_NEAR(read(k)(0, 1), k_(0, 1), 1e-12);
  EngineMatrix again = algebra.copy_of(k_.view());
  EXPECT_THROW((void)repair_spectrum(again, Psd::refuse, *engine_), Error);
}

TEST_P(SpectrumRepairTest, ClipsTrainingRowsTestRowsAndCoefficientsAlike) {
  const Algebra& algebra = engine_->algebra();
  EngineMatrix k = algebra.copy_of(k_.view());
  const SpectrumRepair repair = repair_spectrum(k, Psd::clip, *engine_);
  const Matrix<double> clipped = read(k);
  EngineMatrix test = algebra.copy_of(k_.view());
  project_test(repair, test, *engine_);
  const Matrix<double> projected = read(test);
  Matrix<double> alpha(3, 1);
  alpha(0, 0) = 1;
  alpha(1, 0) = -4;
  alpha(2, 0) = 0.5;
  Matrix<double> moved(3, 1);
  std::copy_n(alpha.data(), 3, moved.data());
  project_coefficients(repair, moved.view(), *engine_);
  for (Index i = 0; i < 3; ++i) {
    double by_clipped = 0;
    double by_moved = 0;
    for (Index j = 0; j < 3; ++j) {
      const double expected = k_(i, j) + 2 * householder_(0, i) * householder_(0, j);
      EXPECT_NEAR(clipped(i, j), expected, 1e-12);
      EXPECT_NEAR(projected(i, j), expected, 1e-12);
      by_clipped += clipped(i, j) * alpha(j, 0);
      by_moved += k_(i, j) * moved(j, 0);
    }
    EXPECT_NEAR(by_clipped, by_moved, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, SpectrumRepairTest,
                         testing::ValuesIn(test::engines_and_cuda({"cpu", "reference", "emulated"})),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace widelimit
