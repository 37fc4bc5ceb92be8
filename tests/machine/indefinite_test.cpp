#include "widelimit/machine/indefinite.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

Matrix<double> swapped() {
  Matrix<double> k(2, 2);
  k(0, 1) = k(1, 0) = 3;  // eigenvalues ±3
  return k;
}

TEST(Diagnose, FindsTheSmallestEigenvalueAndTheRidge) {
  const Matrix<double> k = swapped();
  const Indefinite found = diagnose(k.view(), 1);
  EXPECT_NEAR(found.smallest, -3, 1e-14);
  EXPECT_GE(found.lambda, 6);  // K + λ/2·I
  EXPECT_LE(found.lambda, 6.2);
  EXPECT_NE(found.message.find("order 1"), std::string::npos);
}

TEST(DiagonalCure, SaysWhatToAdd) {
  const Matrix<double> k = swapped();
  const std::string said = diagonal_cure(k.view());
  EXPECT_NE(said.find("eigenvalue -3"), std::string::npos) << said;
  EXPECT_NE(said.find("to its diagonal"), std::string::npos) << said;
}

}  // namespace
}  // namespace widelimit
