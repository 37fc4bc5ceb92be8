#include "widelimit/machine/gram/semidefinite.hpp"

#include "tests/machine/random_gram.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace widelimit {
namespace {

template <typename T>
Matrix<T> rounded(const Matrix<double>& k, double scale = 1) {
  Matrix<T> result(k.rows(), k.cols());
  std::transform(k.data(), k.data() + k.rows() * k.cols(), result.data(),
                 [&](double entry) { return static_cast<T>(scale * entry); });
  return result;
}

/// Returns H diag(values) H with the reflection H along v: eigenvalues known up to a few roundings.
Matrix<double> with_eigenvalues(const std::vector<double>& values) {
  const Index n = std::ssize(values);
  std::vector<double> v;
  double norm = 0;
  for (Index i = 0; i < n; ++i) {
    v.push_back(std::sin(1.0 + static_cast<double>(i)));
    norm += v.back() * v.back();
  }
  const auto reflect = [&](Index a, Index e) { return (a == e ? 1.0 : 0.0) - 2 * v[usize(a)] * v[usize(e)] / norm; };
  Matrix<double> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      for (Index e = 0; e < n; ++e) k(i, j) += reflect(i, e) * values[usize(e)] * reflect(j, e);
      k(j, i) = k(i, j);
    }
  }
  return k;
}

/// Semi-definite matrices of any rank pass, in both precisions and at any scale.
TEST(Semidefinite, PassesWhateverItsRank) {
  for (const Index n : {1, 2, 3, 37, 150}) {
    for (const Index rank : {Index{1}, (n + 1) / 2, n}) {
      const Matrix<double> k = random_gram(n, rank);
      EXPECT_TRUE(is_semidefinite(k.view())) << n << " of rank " << rank;
      EXPECT_TRUE(is_semidefinite(rounded<float>(k).view())) << n << " of rank " << rank;
      for (const double scale : {1e-300, 1e-150, 1e150, 1e300}) {
        EXPECT_TRUE(is_semidefinite(rounded<double>(k, scale).view())) << n << " times " << scale;
      }
    }
  }
  EXPECT_TRUE(is_semidefinite(Matrix<double>(3, 3).view()));
}

/// Rows may be scaled by any factor: D K D has the inertia of K.
TEST(Semidefinite, DoesNotMindTheScalesOfRows) {
  for (const Index rank : {3, 12}) {
    Matrix<double> k = random_gram(12, rank);
    for (Index i = 0; i < 12; ++i) {
      const double by = std::pow(10.0, static_cast<double>(i - 6) * 20);
      for (Index j = 0; j < 12; ++j) {
        k(i, j) *= by;
        k(j, i) *= by;
      }
    }
    EXPECT_TRUE(is_semidefinite(k.view()));
    k(3, 4) = k(4, 3) = 1.5 * std::sqrt(k(3, 3)) * std::sqrt(k(4, 4));  // violates the Cauchy–Schwarz inequality
    EXPECT_FALSE(is_semidefinite(k.view()));
  }
}

/// A negative eigenvalue of ten times the tolerance is always detected, for any eigenvector.
TEST(Semidefinite, FindsEveryNegativeEigenvalueBeyondRounding) {
  for (const Index n : {2, 3, 37, 120}) {
    const double passing = semidefinite_allowance(n, Precision::f64);
    EXPECT_LT(passing, 1e-11) << n;
    for (const double size : {20 * passing, 1e-10, 1e-6, 1e-3, 1.0}) {
      for (const double others : {0.0, 1.0}) {
        std::vector<double> values(usize(n), others);
        values[0] = 1;
        values[usize(n / 2)] = -size;
        const Matrix<double> k = with_eigenvalues(values);
        double smallest = 1;  // smallest diagonal entry, to which the tolerance is relative
        for (Index i = 0; i < n; ++i) smallest = std::min(smallest, k(i, i));
        EXPECT_FALSE(is_semidefinite(k.view())) << n << ' ' << size << ' ' << others << ' ' << smallest;
      }
    }
  }
}

TEST(Semidefinite, KnowsTheSimpleCases) {
  Matrix<double> k(2, 2);
  k(0, 0) = -1;
  k(1, 1) = 1;
  EXPECT_FALSE(is_semidefinite(k.view()));
  k(0, 0) = 0;
  EXPECT_TRUE(is_semidefinite(k.view()));
  k(0, 1) = k(1, 0) = 1e-200;  // next to a zero diagonal
  EXPECT_FALSE(is_semidefinite(k.view()));
  k(0, 0) = 1;
  k(0, 1) = k(1, 0) = 1;
  EXPECT_TRUE(is_semidefinite(k.view()));
  k(0, 1) = k(1, 0) = 1 + 1e-10;
  EXPECT_FALSE(is_semidefinite(k.view()));
}

/// The second result comes from the cache; a changed entry is tested again.
TEST(Semidefinite, IsAskedOnceOfEachMatrix) {
  struct Counting : Progress {
    int calls = 0;
    bool update(std::int64_t, std::int64_t, std::string_view) override {
      ++calls;
      return true;
    }
  } first, second, third;
  Matrix<double> k = random_gram(80, 80, 77);
  EXPECT_TRUE(is_semidefinite(k.view(), &first));
  EXPECT_GT(first.calls, 0);
  EXPECT_TRUE(is_semidefinite(k.view(), &second));
  EXPECT_EQ(second.calls, 0);
  k(79, 79) = -1;
  EXPECT_FALSE(is_semidefinite(k.view(), &third));
}

/// Gram::semidefinite agrees with the test in both precisions: with equal, opposite and zero rows, and rows of very
/// different length.
TEST(Semidefinite, IsWhatKernelsOfNetworksAre) {
  const auto engine = make_engine("cpu");
  Noise noise(4);
  Matrix<double> x(60, 5);
  for (Index i = 0; i < 60 * 5; ++i) x.data()[i] = noise();
  for (Index f = 0; f < 5; ++f) {
    x(1, f) = x(0, f);
    x(2, f) = -x(0, f);
    x(3, f) = 0;
    x(4, f) *= 1e-3;
    x(5, f) *= 1e3;
  }
  const SampleView samples(x.view(), Shape{1, 1, 5});
  for (const char* text : {"fc:1", "fc:3(w_std=1.4142)", "fc:20", "dense(b_std=0.3) erf dense(b_std=0.3) erf dense",
                           "dense relu dense relu dense", "dense gelu dense", "dense abs dense sin dense"}) {
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const Gram found = gram(Network::parse(text), samples, {Kind::both, precision, nullptr}, *engine);
      if (!found.semidefinite()) continue;  // quadrature: must be tested
      EXPECT_TRUE(is_semidefinite(view_of(found.ntk))) << text;
      EXPECT_TRUE(is_semidefinite(view_of(found.nngp))) << text;
    }
  }
}

TEST(Semidefinite, StopsWhenAsked) {
  struct StopProgress : Progress {
    bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
  } stop;
  EXPECT_THROW((void)is_semidefinite(random_gram(64, 64, 99).view(), &stop), Error);
}

}  // namespace
}  // namespace widelimit
