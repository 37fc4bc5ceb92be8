#include "widelimit/machine/gram/indefinite.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

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

/// Eigenvalues −0.5, 1, …, by construction: H diag(d) H with a reflection H.
TEST(Diagnose, BeyondTheExactSizeByLanczos) {
  for (const Index n : {1, 2, 37, 300}) {
    std::vector<double> v;
    double norm = 0;
    for (Index i = 0; i < n; ++i) {
      v.push_back(std::sin(1.0 + static_cast<double>(i)));
      norm += v.back() * v.back();
    }
    const auto eigenvalue = [&](Index i) {
      return i == 0 ? -0.5 : 1.0 + static_cast<double>(i) / static_cast<double>(n);
    };
    Matrix<double> k(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        for (Index e = 0; e < n; ++e) {
          const auto reflect = [&](Index a) {
            return (a == e ? 1.0 : 0.0) - 2 * v[static_cast<std::size_t>(a)] * v[static_cast<std::size_t>(e)] / norm;
          };
          k(i, j) += reflect(i) * eigenvalue(e) * reflect(j);
        }
      }
    }
    const Indefinite exact = diagnose(k.view(), 1);
    const Indefinite estimated = diagnose(k.view(), 1, nullptr, 0);
    EXPECT_NEAR(exact.smallest, -0.5, 1e-12) << n;
    EXPECT_NEAR(estimated.smallest, exact.smallest, 1e-6) << n;
    EXPECT_NEAR(estimated.norm, exact.norm, 1e-2) << n;
    EXPECT_NEAR(estimated.lambda, exact.lambda, 0.02) << n;
  }
}

TEST(DiagonalCure, SaysWhatToAdd) {
  const Matrix<double> k = swapped();
  const std::string message = diagonal_shift_advice(k.view());
  EXPECT_NE(message.find("eigenvalue -3"), std::string::npos) << message;
  EXPECT_NE(message.find("to its diagonal"), std::string::npos) << message;
  const std::string estimated = diagonal_shift_advice(k.view(), nullptr, 0);
  EXPECT_NE(estimated.find("-3 or below; add 6.1 or more"), std::string::npos) << estimated;
}

}  // namespace
}  // namespace widelimit
