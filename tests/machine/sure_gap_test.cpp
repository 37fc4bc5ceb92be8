#include "tests/machine/box_fixture.hpp"
#include "tests/machine/random_gram.hpp"
#include "widelimit/machine/logistic/logistic.hpp"
#include "widelimit/machine/logistic/loss_proof.hpp"
#include "widelimit/machine/logistic/softmax.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/svm/svm.hpp"
#include "widelimit/machine/svm/svr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

// Compares reported gaps with objectives whose products are computed in 113-bit arithmetic and whose losses use long
// double.

namespace widelimit {
namespace {

using Real = long double;
__extension__ using Quad = __float128;

/// Returns XXᵀ of small integers: exactly positive semi-definite, singular, with equal rows and zero rows.
Matrix<double> whole_gram(Index n, Index features, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> entry(-3, 3);
  Matrix<double> x(n, features);
  for (Index i = 0; i < n * features; ++i) x.data()[i] = entry(random);
  for (Index f = 0; f < features; ++f) {
    x(n - 1, f) = x(0, f);
    x(n / 2, f) = 0;
  }
  Matrix<double> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index f = 0; f < features; ++f) k(i, j) += x(i, f) * x(j, f);
    }
  }
  return k;
}

std::vector<Quad> outputs(const Matrix<double>& k, const Fit& fit, Index c) {
  std::vector<Quad> g;
  for (Index i = 0; i < k.rows(); ++i) {
    Quad sum = fit.bias[usize(c)];
    for (Index j = 0; j < k.rows(); ++j) sum += static_cast<Quad>(k(i, j)) * static_cast<Quad>(fit.alpha(j, c));
    g.push_back(sum);
  }
  return g;
}

/// Returns λ/2 αᵀKα + Σ loss(i, outputs of sample i).
Real objective(const Matrix<double>& k, const Fit& fit, double lambda,
               const std::function<Real(Index, const std::vector<Real>&)>& loss) {
  std::vector<std::vector<Quad>> g;
  Quad norm = 0;
  for (Index c = 0; c < fit.alpha.cols(); ++c) {
    g.push_back(outputs(k, fit, c));
    for (Index i = 0; i < k.rows(); ++i) {
      norm += static_cast<Quad>(fit.alpha(i, c)) * (g.back()[usize(i)] - static_cast<Quad>(fit.bias[usize(c)]));
    }
  }
  Real value = static_cast<Real>(static_cast<Quad>(lambda) / 2 * norm);
  for (Index i = 0; i < k.rows(); ++i) {
    std::vector<Real> row;
    for (const auto& column : g) row.push_back(static_cast<Real>(column[usize(i)]));
    value += loss(i, row);
  }
  return value;
}

/// Expects that the reported gap of each fit is consistent with the objective of the other.
void expect_true_gaps(const Fit& first, const Fit& second, const std::function<Real(const Fit&)>& value) {
  const Real a = value(first);
  const Real b = value(second);
  const Real noise = 1e-17L * std::max(std::abs(a), std::abs(b));
  for (const auto& [fit, own, other] : {std::tuple(&first, a, b), std::tuple(&second, b, a)}) {
    ASSERT_TRUE(fit->summary.gap) << fit->summary.message;
    EXPECT_LE(own - other, static_cast<Real>(*fit->summary.gap) * own + noise) << fit->summary.message;
    EXPECT_LE(static_cast<Real>(*fit->summary.dual), other + noise);
    EXPECT_NEAR(static_cast<double>(*fit->summary.primal / own), 1, 1e-13 + *fit->summary.gap);
  }
}

std::vector<Matrix<double>> grams() {
  std::vector<Matrix<double>> result;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    result.push_back(whole_gram(14, static_cast<Index>(seed) * 4, seed));
    result.push_back(std::move(clouds(15, 0.8, seed).gram));  // condition numbers beyond 1e10
  }
  return result;
}

std::vector<double> signs_of(Index n) {
  std::vector<double> signs;
  for (Index i = 0; i < n; ++i) signs.push_back(i % 3 == 0 ? 1 : -1);
  return signs;
}

constexpr double lambdas[]{1e-11, 1e-8, 1e-4, 1e-1, 1e2, 1e8};

TEST(SureGap, OfSupportVectorMachines) {
  for (const Matrix<double>& k : grams()) {
    const std::vector<double> y = signs_of(k.rows());
    for (const bool bias : {false, true}) {
      for (const double lambda : lambdas) {
        SCOPED_TRACE(fmt::format("n {} bias {} lambda {}", k.rows(), bias, lambda));
        for (const bool square : {false, true}) {
          const auto fit = [&](double tolerance) {
            const SvmOptions options{.lambda = lambda, .bias = bias, .tolerance = tolerance};
            return square ? fit_svm2(k.view(), y, options) : fit_svm(k.view(), y, options);
          };
          expect_true_gaps(fit(1e-3), fit(1e-12), [&](const Fit& one) {
            return objective(k, one, lambda, [&](Index i, const std::vector<Real>& g) {
              const Real slack = std::max<Real>(0, 1 - static_cast<Real>(y[usize(i)]) * g[0]);
              return square ? slack * slack : slack;
            });
          });
        }
      }
    }
  }
}

TEST(SureGap, OfRegression) {
  for (const Matrix<double>& k : grams()) {
    Matrix<double> y(k.rows(), 1);
    for (Index i = 0; i < k.rows(); ++i) y(i, 0) = std::sin(static_cast<double>(i * i)) * 3;
    for (const bool bias : {false, true}) {
      for (const double lambda : lambdas) {
        SCOPED_TRACE(fmt::format("n {} bias {} lambda {}", k.rows(), bias, lambda));
        const double epsilon = 0.2;
        const auto fit = [&](double tolerance) {
          return fit_svr(k.view(), y.view(),
                         {.lambda = lambda, .epsilon = epsilon, .bias = bias, .tolerance = tolerance});
        };
        expect_true_gaps(fit(1e-3), fit(1e-12), [&](const Fit& one) {
          return objective(k, one, lambda, [&](Index i, const std::vector<Real>& g) {
            return std::max<Real>(0, std::abs(static_cast<Real>(y(i, 0)) - g[0]) - static_cast<Real>(epsilon));
          });
        });
        const Fit ridge = fit_ridge(k.view(), y.view(), {.lambda = lambda, .bias = bias});
        if (!ridge.summary.converged()) continue;  // singular in float64
        Fit away = fit_ridge(k.view(), y.view(), {.lambda = lambda * 1.001, .bias = bias});
        const auto value = [&](const Fit& one) {
          return objective(k, one, lambda, [&](Index i, const std::vector<Real>& g) {
            return std::pow(static_cast<Real>(y(i, 0)) - g[0], 2);
          });
        };
        const Real own = value(ridge);
        EXPECT_LE(own - value(away), static_cast<Real>(*ridge.summary.gap) * own);
      }
    }
  }
}

TEST(SureGap, OfLogisticMachines) {
  for (const Matrix<double>& k : grams()) {
    const std::vector<double> y = signs_of(k.rows());
    std::vector<Index> classes;
    for (Index i = 0; i < k.rows(); ++i) classes.push_back(i % 3);
    for (const bool bias : {false, true}) {
      for (const double lambda : lambdas) {
        SCOPED_TRACE(fmt::format("n {} bias {} lambda {}", k.rows(), bias, lambda));
        const auto options = [&](double tolerance) {
          return LogisticOptions{.lambda = lambda, .bias = bias, .tolerance = tolerance};
        };
        expect_true_gaps(fit_logistic(k.view(), y, options(1e-2)), fit_logistic(k.view(), y, options(1e-12)),
                         [&](const Fit& one) {
                           return objective(k, one, lambda, [&](Index i, const std::vector<Real>& g) {
                             const Real m = static_cast<Real>(y[usize(i)]) * g[0];
                             return m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m;
                           });
                         });
        expect_true_gaps(fit_softmax(k.view(), classes, 3, options(1e-2)),
                         fit_softmax(k.view(), classes, 3, options(1e-12)), [&](const Fit& one) {
                           return objective(k, one, lambda, [&](Index i, const std::vector<Real>& g) {
                             const Real own = g[usize(classes[usize(i)])];
                             Real others = 0;
                             for (Index c = 0; c < 3; ++c) {
                               if (c != classes[usize(i)]) others += std::exp(g[usize(c)] - own);
                             }
                             return std::log1p(others);
                           });
                         });
      }
    }
  }
}

/// q log(q/p) − q + p in long double, from nearly equal to very different arguments.
TEST(SureGap, DivergenceIsNeverTooSmall) {
  for (const double p : {1e-300, 1e-20, 1e-3, 0.4, 0.999}) {
    for (const double factor : {1.0, 1 + 1e-15, 1 - 1e-9, 1 + 1e-3, 0.5, 3.0, 1e-6, 1e6}) {
      const double q = p * factor;
      const Real x = static_cast<Real>(q) / static_cast<Real>(p);
      const Real away = x - 1;
      const Real exact =
          static_cast<Real>(p) * (std::abs(away) < 1e-4L ? away * away / 2 * (1 - away / 3) : x * std::log(x) - x + 1);
      const double bound = divergence_term(q, p, std::log(p), 4e-16);
      EXPECT_GE(static_cast<Real>(bound), exact) << p << ' ' << factor;
      EXPECT_LE(bound, 2.1 * static_cast<double>(exact) + 1e-12 * (p + q)) << p << ' ' << factor;
      EXPECT_GE(divergence_term(q, p, std::log(p), 4e-16, 1e-3 * p), bound) << p << ' ' << factor;
    }
  }
}

/// A product whose terms cancel to the last digit: errors bounded in float64 would be 1e-4, times C = 1e13 over the
/// objective of 2e11 a gap of 1e-2. Half a unit in the last place of a coefficient of 2e11 accounts for 7.6e-4 of it.
TEST(SureGap, StaysSmallWhereProductsCancel) {
  Matrix<double> k(3, 3);
  const double entries[]{1, 1, 0.5, 1, 1 + 1e-11, 0.5, 0.5, 0.5, 1};
  std::copy_n(entries, 9, k.data());
  const double y[]{1, -1, 1};
  const Fit fit = fit_svm(k.view(), y, {.lambda = 1e-13});
  ASSERT_TRUE(fit.summary.gap) << fit.summary.message;
  EXPECT_LE(*fit.summary.gap, 7.6e-4) << fit.summary.message;
  const Real value = objective(k, fit, 1e-13, [&](Index i, const std::vector<Real>& g) {
    return std::max<Real>(0, 1 - static_cast<Real>(y[i]) * g[0]);
  });
  EXPECT_LE(static_cast<Real>(*fit.summary.dual), value);
}

}  // namespace
}  // namespace widelimit
