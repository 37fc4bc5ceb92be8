#pragma once

#include "tests/engine/engines.hpp"
#include "tests/machine/random_gram.hpp"
#include "widelimit/engine/algebra.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace widelimit {

/// Checks every operation of Algebra on every engine against its definition on the host.
class AlgebraOf : public testing::TestWithParam<std::string> {
 protected:
  static constexpr double ulp = std::numeric_limits<double>::epsilon();

  AlgebraOf() : engine_(test::engine_named(GetParam())), algebra_(engine_->algebra()) {}

  [[nodiscard]] Matrix<double> host(const EngineMatrix& a) const {
    Matrix<double> result(a.rows(), a.cols());
    algebra_.read(a, result.view());
    return result;
  }
  /// Returns a positive definite matrix with eigenvalues between about 1 and n.
  [[nodiscard]] static Matrix<double> definite(Index n) {
    Matrix<double> k = random_gram(n, n + 3);
    for (Index i = 0; i < n; ++i) k(i, i) += 1;
    return k;
  }
  [[nodiscard]] static Matrix<double> columns(Index n, Index count, std::uint64_t seed = 3) {
    Noise noise(seed);
    Matrix<double> v(n, count);
    for (Index i = 0; i < n * count; ++i) v.data()[i] = noise();
    return v;
  }

  std::unique_ptr<Engine> engine_;
  const Algebra& algebra_;
};

}  // namespace widelimit
