#include "widelimit/kernel/monte_carlo.hpp"

#include "widelimit/base/error.hpp"

#include "limit_recursion.hpp"
#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <ostream>

namespace widelimit {
namespace {

SampleView view(const Matrix<double>& x, const Shape& shape) { return {x.view(), shape}; }

MonteCarloGram run(const char* network, const Matrix<double>& x, const Shape& shape, const MonteCarloOptions& options) {
  return monte_carlo_gram(Network::parse(network), view(x, shape), view(x, shape), options);
}

struct LimitCase {
  const char* network;
  Shape input;
  int depth;  ///< number of random layers, to which the finite-width bias is proportional
  std::function<void(LimitRecursion&)> limit;
};
void PrintTo(const LimitCase& where, std::ostream* out) { *out << where.network; }

const std::vector<LimitCase>& limit_cases() {
  static const Shape vector{1, 1, 5};
  static const Shape image{4, 3, 2};
  using R = LimitRecursion;
  static const std::vector<LimitCase> list{
      {"dense relu dense", vector, 1, [](R& r) { r.weigh(1, 0), r.relu(), r.weigh(1, 0); }},
      {"dense(w_std=1.4, b_std=0.3) relu dense(w_std=1.4, b_std=0.2) relu dense(w_std=1.4, b_std=0.1)", vector, 2,
       [](R& r) { r.weigh(1.4, 0.3), r.relu(), r.weigh(1.4, 0.2), r.relu(), r.weigh(1.4, 0.1); }},
      {"dense(w_std=1.5) erf dense(w_std=1.5) erf dense", vector, 2,
       [](R& r) { r.weigh(1.5, 0), r.erf(), r.weigh(1.5, 0), r.erf(), r.weigh(1, 0); }},
      {"dense(b_std=0.2) relu", vector, 1, [](R& r) { r.weigh(1, 0.2), r.relu(); }},
      {"dense residual{ relu dense(w_std=1.4) } residual{ relu dense | dense(w_std=0.5) } relu dense", vector, 3,
       [](R& r) {
         r.weigh(1, 0);
         R branch = r;
         branch.relu(), branch.weigh(1.4, 0);
         r += branch;
         branch = r;
         branch.relu(), branch.weigh(1, 0);
         r.weigh(0.5, 0);
         r += branch;
         r.relu(), r.weigh(1, 0);
       }},
      {"dense(b_std=0.3) layer_norm relu dense layer_norm relu dense", vector, 3,
       [](R& r) { r.weigh(1, 0.3), r.layer_norm(), r.relu(), r.weigh(1, 0), r.layer_norm(), r.relu(), r.weigh(1, 0); }},
      {"dense relu dropout(rate=0.7) dense relu dropout(rate=0.5) dense", vector, 3,
       [](R& r) { r.weigh(1, 0), r.relu(), r.dropout(0.7), r.weigh(1, 0), r.relu(), r.dropout(0.5), r.weigh(1, 0); }},
      {"conv(w_std=1.4, b_std=0.1) relu conv relu flatten dense", image, 2,
       [](R& r) {
         r.window_mean(3, 1, 1), r.weigh(1.4, 0.1), r.relu(), r.window_mean(3, 1, 1), r.weigh(1, 0), r.relu();
         r.flatten(), r.weigh(1, 0);
       }},
      {"conv(w_std=1.4) relu conv relu global_avg_pool dense", image, 2,
       [](R& r) {
         r.window_mean(3, 1, 1), r.weigh(1.4, 0), r.relu(), r.window_mean(3, 1, 1), r.weigh(1, 0), r.relu();
         r.global_average(), r.weigh(1, 0);
       }},
      // 4×3 positions, stride 2, window 1: positions 0, 2 of each axis are read.
      {"conv relu conv(kernel=1, strides=2) relu flatten", image, 2,
       [](R& r) {
         r.window_mean(3, 1, 1), r.weigh(1, 0), r.relu(), r.window_mean(1, 2, 0), r.weigh(1, 0), r.relu();
         r.flatten();
       }},
      {"conv relu attention relu flatten dense", image, 3,
       [](R& r) {
         r.window_mean(3, 1, 1), r.weigh(1, 0), r.relu(), r.attention(), r.relu(), r.flatten(), r.weigh(1, 0);
       }},
      {"dense(b_std=0.3) relu dense(w_std=1.4, b_std=0.2, frozen=true) relu dense(frozen=true)", vector, 2,
       [](R& r) { r.weigh(1, 0.3), r.relu(), r.weigh(1.4, 0.2, false), r.relu(), r.weigh(1, 0, false); }},
      {"dense(b_std=0.3, frozen=true) residual{ relu dense(frozen=true) | dense(w_std=0.5) } relu dense", vector, 2,
       [](R& r) {
         r.weigh(1, 0.3, false);
         R branch = r;
         branch.relu(), branch.weigh(1, 0, false);
         r.weigh(0.5, 0);
         r += branch;
         r.relu(), r.weigh(1, 0);
       }},
      {"conv(frozen=true) relu conv(b_std=0.2) relu global_avg_pool dense(frozen=true)", image, 2,
       [](R& r) {
         r.window_mean(3, 1, 1), r.weigh(1, 0, false), r.relu(), r.window_mean(3, 1, 1), r.weigh(1, 0.2), r.relu();
         r.global_average(), r.weigh(1, 0, false);
       }},
      {"conv relu attention(frozen=true) relu flatten dense(frozen=true)", image, 3,
       [](R& r) {
         r.window_mean(3, 1, 1), r.weigh(1, 0), r.relu(), r.attention(false), r.relu(), r.flatten();
         r.weigh(1, 0, false);
       }},
  };
  return list;
}

class MonteCarloLimit : public ::testing::TestWithParam<LimitCase> {};

TEST_P(MonteCarloLimit, IsApproached) {
  const LimitCase& where = GetParam();
  const auto x = normal_rows(2, where.input.size(), 21);
  LimitRecursion limit(where.input, x.data(), x.data() + where.input.size());
  where.limit(limit);
  constexpr Index width = 64;
  const auto estimate = run(where.network, x, where.input, {.width = width, .draws = 80, .seed = 7});
  const auto compare = [&](const Matrix<double>& mean, const Matrix<double>& error, const std::vector<double>& exact) {
    const double scale = *std::max_element(exact.begin(), exact.end());
    const double bias = 2.0 * where.depth / static_cast<double>(width) * scale;
    for (Index i = 0; i < 4; ++i) {
      EXPECT_NEAR(mean.data()[i], exact[static_cast<std::size_t>(i)], 5 * error.data()[i] + bias) << i;
      EXPECT_LT(error.data()[i], 0.15 * scale);
    }
  };
  compare(estimate.nngp, estimate.nngp_error, limit.sigma);
  compare(estimate.ntk, estimate.ntk_error, limit.theta);
}

INSTANTIATE_TEST_SUITE_P(Networks, MonteCarloLimit, ::testing::ValuesIn(limit_cases()));

TEST(MonteCarlo, TwoLayerFormula) {
  // Θ = ⟨x,x'⟩/d·(π − arccos u)/π + ‖x‖‖x'‖√(1−u²)/(2πd); one hidden layer has no finite-width bias.
  const auto x = normal_rows(37, 6, 3);
  const auto estimate = run("dense relu dense", x, {1, 1, 6}, {.width = 128, .draws = 40});
  int outside = 0;
  for (Index i = 0; i < 37; ++i) {
    for (Index j = 0; j < 37; ++j) {
      double inner = 0, xx = 0, yy = 0;
      for (Index k = 0; k < 6; ++k) {
        inner += x(i, k) * x(j, k);
        xx += x(i, k) * x(i, k);
        yy += x(j, k) * x(j, k);
      }
      const double u = std::clamp(inner / std::sqrt(xx * yy), -1.0, 1.0);
      const double pi = std::numbers::pi;
      const double exact = inner / 6 * (pi - std::acos(u)) / pi + std::sqrt(xx * yy * (1 - u * u)) / (2 * pi * 6);
      EXPECT_NEAR(estimate.ntk(i, j), exact, 6 * estimate.ntk_error(i, j) + 1e-12);
      outside += std::abs(estimate.ntk(i, j) - exact) > 2.5 * estimate.ntk_error(i, j) ? 1 : 0;
      EXPECT_EQ(estimate.ntk(i, j), estimate.ntk(j, i));
    }
  }
  EXPECT_LT(outside, 37 * 37 / 8);  // the standard error is not too small …
  EXPECT_GT(estimate.ntk_error(0, 0), 1e-3 * estimate.ntk(0, 0));
  EXPECT_LT(estimate.ntk_error(0, 0), 0.2 * estimate.ntk(0, 0));  // … and not too large
}

TEST(MonteCarlo, ALinearNetworkHasNoSpread) {
  const auto x = normal_rows(2, 3, 1);
  const auto estimate = run("dense(w_std=2, b_std=0.5)", x, {1, 1, 3}, {.width = 8, .draws = 3});
  const double exact = 4 * (x(0, 0) * x(1, 0) + x(0, 1) * x(1, 1) + x(0, 2) * x(1, 2)) / 3 + 0.25;
  EXPECT_NEAR(estimate.nngp(0, 1), exact, 1e-14);
  EXPECT_NEAR(estimate.ntk(0, 1), exact, 1e-14);
  EXPECT_LT(estimate.ntk_error(0, 1), 1e-15);
}

TEST(MonteCarlo, DropoutMasksAreSharedOnlyBySamplesThatAreTheSame) {
  const auto x = normal_rows(1, 40, 2);
  const auto copy = normal_rows(1, 40, 2);
  const Network network = Network::parse("dropout dense");
  const Shape shape{1, 1, 40};
  const MonteCarloOptions options{.width = 4, .draws = 400};
  double square = 0;
  for (Index k = 0; k < 40; ++k) square += x(0, k) * x(0, k) / 40;
  const auto same = monte_carlo_gram(network, view(x, shape), view(x, shape), options);
  EXPECT_NEAR(same.nngp(0, 0), 2 * square, 5 * same.nngp_error(0, 0));
  const auto other = monte_carlo_gram(network, view(x, shape), view(copy, shape), options);
  EXPECT_NEAR(other.nngp(0, 0), square, 5 * other.nngp_error(0, 0));
}

TEST(MonteCarlo, RectangleEqualsSymmetricAndThreadsDoNotChangeABit) {
  const auto x = normal_rows(3, 18, 5);
  const auto copy = normal_rows(3, 18, 5);
  const Shape shape{3, 3, 2};
  const Network network = Network::parse("conv relu max_pool(window=2, strides=1) flatten dense");
  const auto symmetric = monte_carlo_gram(network, view(x, shape), view(x, shape), {.width = 16, .draws = 7});
  const auto one = monte_carlo_gram(network, view(x, shape), view(copy, shape), {.width = 16, .draws = 7},
                                    *make_engine("cpu", {.threads = 1}));
  const auto many = monte_carlo_gram(network, view(x, shape), view(copy, shape), {.width = 16, .draws = 7},
                                     *make_engine("cpu", {.threads = 3}));
  for (Index i = 0; i < 9; ++i) {
    EXPECT_NEAR(symmetric.ntk.data()[i], one.ntk.data()[i], 1e-12 * symmetric.ntk(0, 0));
    EXPECT_EQ(one.nngp.data()[i], many.nngp.data()[i]);
    EXPECT_EQ(one.nngp_error.data()[i], many.nngp_error.data()[i]);
    EXPECT_EQ(one.ntk.data()[i], many.ntk.data()[i]);
    EXPECT_EQ(one.ntk_error.data()[i], many.ntk_error.data()[i]);
  }
}

TEST(MonteCarlo, SizesAndParts) {
  const auto none = normal_rows(0, 4, 1);
  const auto empty = run("dense relu dense", none, {1, 1, 4}, {.width = 4, .draws = 2});
  EXPECT_EQ(empty.nngp.rows(), 0);
  const auto x = normal_rows(1, 4, 1);
  const auto nngp = run("dense relu dense", x, {2, 2, 1}, {.width = 4, .draws = 2, .ntk = false});
  EXPECT_EQ(nngp.nngp.rows(), 1);
  EXPECT_EQ(nngp.ntk.rows(), 0);
  const auto zero = normal_rows(1, 4, 1, 0.0);
  EXPECT_EQ(run("dense relu dense", zero, {1, 1, 4}, {.width = 4, .draws = 2}).ntk(0, 0), 0.0);
  EXPECT_EQ(run("dense layer_norm relu dense", zero, {1, 1, 4}, {.width = 4, .draws = 2}).ntk(0, 0), 0.0);
}

TEST(MonteCarlo, RealOverflowIsAnError) {
  const auto large = normal_rows(2, 4, 1, 1e150);
  const auto fits = run("dense relu dense", large, {1, 1, 4}, {.width = 8, .draws = 3, .ntk = false});
  EXPECT_TRUE(std::isfinite(fits.nngp(0, 0)));
  const auto normed = run("dense layer_norm relu dense", normal_rows(2, 4, 1, 1e200), {1, 1, 4},
                          {.width = 8, .draws = 3, .ntk = false});
  EXPECT_GT(normed.nngp(0, 0), 0.0);
  const auto too_large = normal_rows(2, 4, 1, 1e160);
  try {
    (void)run("dense relu dense", too_large, {1, 1, 4}, {.width = 8, .draws = 3});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
  }
}

struct StopAtOnce : Progress {
  std::int64_t last = 0;
  bool update(std::int64_t done, std::int64_t, std::string_view) override {
    last = done;
    return false;
  }
};

TEST(MonteCarlo, BadCalls) {
  const auto x = normal_rows(2, 4, 1);
  const Shape shape{1, 1, 4};
  EXPECT_THROW((void)run("dense", x, shape, {.draws = 1}), Error);
  EXPECT_THROW((void)run("dense", x, shape, {.width = 0}), Error);
  EXPECT_THROW((void)run("conv flatten dense", x, {1, 1, 5}, {}), Error);
  EXPECT_THROW((void)monte_carlo_gram(Network::parse("dense"), view(x, shape), view(x, {2, 2, 1}), {}), Error);
  EXPECT_THROW(
      (void)monte_carlo_gram(Network::parse("dense"), view(x, shape), view(x, shape), {}, *make_engine("reference")),
      Error);
  StopAtOnce stop;
  try {
    (void)monte_carlo_gram(Network::parse("dense"), view(x, shape), view(x, shape), {.draws = 50, .progress = &stop},
                           *make_engine("cpu", {.threads = 1}));
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
    EXPECT_EQ(stop.last, 1);
  }
}

}  // namespace
}  // namespace widelimit
