#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

constexpr Index ridge_samples = 5;
constexpr Index ridge_tests = 3;

Matrix<double> ridge_points(Index count, std::uint64_t seed) {
  Matrix<double> x(count, 4);
  Random(seed, 6).normals(0, count * 4, 1.0, x.data());
  return x;
}

/// k(x,X)(H + λI)⁻¹y with the empirical kernel of the network at initialisation.
Matrix<double> ridge_at_start(const TrainedNetwork& trained, const SampleView& x, const SampleView& test,
                              const Matrix<double>& y, double lambda) {
  const auto& w = std::get<Parameters<double>>(trained.start);
  const Tensor<double> samples = read_samples<double>(x, trained.architecture.input);
  const Tensor<double> tests = read_samples<double>(test, trained.architecture.input);
  const Matrix<double> k = empirical_ntk(trained.architecture, w, samples, samples);
  const Matrix<double> k_test = empirical_ntk(trained.architecture, w, tests, samples);
  // The squared loss has no factor ½ in either module: a machine with λ has the ridge λ/2.
  const Fit fit = fit_ridge(AnyView(k.view()), y.view(), {.lambda = 2 * lambda});
  return decision(fit, AnyView(k_test.view()));
}

double farthest_from_ridge(Regulariser regulariser, Index width, bool linearised) {
  const Matrix<double> x = ridge_points(ridge_samples, 1);
  const Matrix<double> test = ridge_points(ridge_tests, 2);
  Matrix<double> y(ridge_samples, 1);
  for (Index i = 0; i < ridge_samples; ++i) y(i, 0) = i % 2 == 0 ? 1 : -1;
  constexpr double lambda = 0.4;
  TrainOptions options;
  options.width = width;
  options.regulariser = regulariser;
  options.lambda = regulariser == Regulariser::init ? 2 * lambda : lambda;
  options.rate = 0.1;
  options.steps = 400;
  options.centred = true;
  options.linearised = linearised;
  options.records = 2;
  const SampleView given(x.view(), {1, 1, 4});
  const SampleView tested(test.view(), {1, 1, 4});
  const TrainedNetwork trained = train(Network::parse("dense erf dense"), {given, y.view()}, options);
  EXPECT_TRUE(trained.summary.finished()) << trained.summary.message;
  const Matrix<double> f = predict_outputs(trained, tested);
  const Matrix<double> g = ridge_at_start(trained, given, tested, y, lambda);
  double most = 0;
  for (Index i = 0; i < ridge_tests; ++i) most = std::max(most, std::fabs(f(i, 0) - g(i, 0)));
  return most;
}

// The distance to initialisation with 2λ and auxiliary variables with λ are the same ridge regression. Modes decay by
// at most 1 − 2ηλ = 0.92 per step: 400 steps leave 1e-14.
TEST(RidgeLimit, LinearisedNetworksEndThereExactly) {
  for (const Regulariser regulariser : {Regulariser::init, Regulariser::aux}) {
    EXPECT_LT(farthest_from_ridge(regulariser, 32, true), 1e-9) << to_string(regulariser);
  }
}

TEST(RidgeLimit, NetworksComeNearerTheWiderTheyAre) {
  for (const Regulariser regulariser : {Regulariser::init, Regulariser::aux}) {
    const double narrow = farthest_from_ridge(regulariser, 32, false);
    const double wide = farthest_from_ridge(regulariser, 2048, false);
    EXPECT_LT(wide, 0.4 * narrow) << to_string(regulariser);
    EXPECT_LT(wide, 0.05) << to_string(regulariser);
  }
}

}  // namespace
}  // namespace widelimit
