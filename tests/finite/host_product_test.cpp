#include "widelimit/base/random.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

template <std::floating_point T>
Matrix<T> random_matrix(Index rows, Index cols, std::uint64_t stream) {
  Matrix<T> m(rows, cols);
  Random(7, stream).normals(0, rows * cols, 1.0, m.data());
  return m;
}

/// Computes c = alpha·op(a)·op(b) + beta·c by definition, on blocks of larger matrices.
template <std::floating_point T>
void expect_products(const Engine& engine) {
  const Index m = 5, n = 4, inner = 7;
  for (const Transpose op_a : {Transpose::no, Transpose::yes}) {
    for (const Transpose op_b : {Transpose::no, Transpose::yes}) {
      for (const double beta : {0.0, -0.5}) {
        const bool ta = op_a == Transpose::yes, tb = op_b == Transpose::yes;
        const Matrix<T> a = random_matrix<T>(10, 10, 1), b = random_matrix<T>(10, 10, 2);
        const Matrix<T> before = random_matrix<T>(10, 10, 3);
        Matrix<T> c = random_matrix<T>(10, 10, 3);
        if (beta == 0) c(2, 3) = std::numeric_limits<T>::quiet_NaN();
        engine.algebra().host_product(1.5, op_a, a.view().block(1, 2, ta ? inner : m, ta ? m : inner), op_b,
                                      b.view().block(2, 1, tb ? n : inner, tb ? inner : n), beta,
                                      c.view().block(2, 3, m, n));
        for (Index i = 0; i < 10; ++i) {
          for (Index j = 0; j < 10; ++j) {
            if (i < 2 || i >= 2 + m || j < 3 || j >= 3 + n) {
              EXPECT_EQ(c(i, j), before(i, j));
              continue;
            }
            double sum = beta * static_cast<double>(before(i, j));
            for (Index k = 0; k < inner; ++k) {
              const T left = ta ? a(1 + k, 2 + i - 2) : a(1 + i - 2, 2 + k);
              const T right = tb ? b(2 + j - 3, 1 + k) : b(2 + k, 1 + j - 3);
              sum += 1.5 * static_cast<double>(left) * static_cast<double>(right);
            }
            EXPECT_NEAR(static_cast<double>(c(i, j)), sum, 100 * static_cast<double>(std::numeric_limits<T>::epsilon()))
                << engine.name();
          }
        }
      }
    }
  }
}

TEST(HostProduct, IsThatOfItsDefinitionOnEveryEngine) {
  const auto oracle = make_engine("reference");
  for (const Engine* engine : {&all_processors(), static_cast<const Engine*>(oracle.get())}) {
    expect_products<float>(*engine);
    expect_products<double>(*engine);
  }
}

TEST(HostProduct, OfNothingIsNothing) {
  const auto oracle = make_engine("reference");
  for (const Engine* engine : {&all_processors(), static_cast<const Engine*>(oracle.get())}) {
    Matrix<double> c = random_matrix<double>(2, 3, 4);
    engine->algebra().host_product(1, Transpose::no, Matrix<double>(2, 0).view(), Transpose::no,
                                   Matrix<double>(0, 3).view(), 0, c.view());
    for (Index i = 0; i < 6; ++i) EXPECT_EQ(c.data()[i], 0);
    engine->algebra().host_product(1, Transpose::no, Matrix<double>(0, 4).view(), Transpose::no,
                                   Matrix<double>(4, 3).view(), 0, Matrix<double>(0, 3).view());
  }
}

/// All layers with weights, trained with long double loops and with the default engine: equal up to rounding.
TEST(HostProduct, TrainsTheSameNetworkOnEveryEngine) {
  const Matrix<double> x = random_matrix<double>(6, 18, 5);
  Matrix<double> y(6, 1);
  for (Index i = 0; i < 6; ++i) y(i, 0) = i % 2 == 0 ? 1 : -1;
  const Network network =
      Network::parse("conv(b_std=0.1) erf attention residual{ erf conv } avg_pool(window=2) flatten dense(b_std=0.2)");
  const TrainData data{SampleView(x.view(), {3, 3, 2}), y.view()};
  for (const double momentum : {0.0, 0.5}) {
    const TrainOptions options{
        .width = 4, .lambda = 0.1, .rate = 0.01, .steps = 5, .optimiser = {.momentum = momentum}};
    const TrainedNetwork here = train(network, data, options);
    const TrainedNetwork there = train(network, data, options, *make_engine("reference"));
    const auto& w = std::get<Parameters<double>>(here.parameters);
    const auto& v = std::get<Parameters<double>>(there.parameters);
    EXPECT_LT(std::sqrt(squared_distance(w, v)), 1e-12);
    EXPECT_GT(std::sqrt(squared_distance(w, std::get<Parameters<double>>(here.start))), 1e-3);
  }
}

}  // namespace
}  // namespace widelimit
