#include "tests/engine/engines.hpp"
#include "tests/paths.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace widelimit {
namespace {

/// One pair of inputs with its kernels, accurate to 30 digits.                         [tools/quadrature_values.py]
struct GoldenPair {
  std::string network;
  Matrix<double> x;  ///< 2 × d
  std::array<double, 3> nngp, ntk;
};

std::vector<GoldenPair> golden_pairs() {
  std::ifstream file(test::golden_file("quadrature.json"));
  std::vector<GoldenPair> pairs;
  for (const auto& entry : nlohmann::json::parse(file)) {
    const auto x1 = entry["x1"].get<std::vector<double>>();
    const auto x2 = entry["x2"].get<std::vector<double>>();
    GoldenPair pair{entry["network"], Matrix<double>(2, static_cast<Index>(x1.size())), entry["nngp"], entry["ntk"]};
    std::copy(x1.begin(), x1.end(), pair.x.view().row(0));
    std::copy(x2.begin(), x2.end(), pair.x.view().row(1));
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// Largest error of a symmetric Gram matrix, relative to the geometric means of the diagonal entries.
double error_of(const AnyMatrix& found, const std::array<double, 3>& exact) {
  return std::visit(
      [&](const auto& k) {
        const double size = std::sqrt(exact[0] * exact[2]);
        return std::max({std::abs(static_cast<double>(k(0, 0)) / exact[0] - 1),
                         std::abs(static_cast<double>(k(0, 1)) - exact[1]) / size,
                         std::abs(static_cast<double>(k(1, 1)) / exact[2] - 1)});
      },
      found);
}

class QuadratureError : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Engines, QuadratureError,
                         testing::ValuesIn(test::engines_and_cuda({"cpu", "reference", "emulated"})),
                         [](const auto& of) { return of.param; });

/// Functions that only engines on the host evaluate.
class Quadrature : public testing::TestWithParam<std::string> {};

/// tanh, sigmoid, swish and softplus for norms from 1e-3 to 1e3, correlations from −1 to 1 and networks of 1 to 30
/// layers. The stated error is a bound up to rounding: some ulps per layer; an ulp of ρ contributes up to s ulps to
/// E[φ'φ'] of the next layer, where the deviation s makes the activation a kink of width 1/s.
TEST_P(QuadratureError, IsABound) {
  const auto engine = test::engine_named(GetParam());
  double worst = 0;
  int visited = 0;
  for (const GoldenPair& pair : golden_pairs()) {
    if (WIDELIMIT_SANITIZED != 0 && visited++ % 16 != 0) continue;
    const bool deep = pair.network.find("fc:1(") == std::string::npos;
    if (deep && pair.network.find("fc:3(") == std::string::npos && GetParam() == "reference") continue;  // too slow
    SCOPED_TRACE(pair.network + fmt::format(" on {} and {}, {}", pair.x(0, 0), pair.x(1, 0), pair.x(1, 1)));
    const Gram k = gram(Network::parse(pair.network), {pair.x.view(), {1, 1, 2}}, {.kind = Kind::both}, *engine);
    const double rounding = deep ? 1e-13 + 1.6e-16 * pair.x(0, 0) : 3e-14;
    EXPECT_LE(error_of(k.nngp, pair.nngp), k.quadrature_error + rounding);
    EXPECT_LE(error_of(k.ntk, pair.ntk), k.quadrature_error + rounding);
    EXPECT_LE(k.quadrature_error, 2e-13 * (deep ? 30 : 1));
    EXPECT_GT(k.quadrature_error, 0);
    worst = std::max({worst, error_of(k.nngp, pair.nngp), error_of(k.ntk, pair.ntk)});
  }
  printf("quadrature on %s: largest relative error %.2g\n", GetParam().c_str(), worst);
}

TEST(QuadratureFloat, AsksForLessAndSaysSo) {
  const auto engine = make_engine("cpu");
  for (const GoldenPair& pair : golden_pairs()) {
    SCOPED_TRACE(pair.network + fmt::format(" on {} and {}, {}", pair.x(0, 0), pair.x(1, 0), pair.x(1, 1)));
    const Gram k = gram(Network::parse(pair.network), {pair.x.view(), {1, 1, 2}},
                        {.kind = Kind::both, .precision = Precision::f32}, *engine);
    EXPECT_LE(error_of(k.ntk, pair.ntk), k.quadrature_error + 2e-7);
    EXPECT_EQ(quadrature_warning(k.quadrature_error, Precision::f32), "");
  }
}

void register_functions() {
  const auto each = [](double (*f)(double)) {
    return [f](std::span<const double> x, std::span<double> y) {
      for (std::size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
    };
  };
  register_activation("own_relu", each([](double x) { return x > 0 ? x : 0; }));
  register_activation("own_abs", each([](double x) { return std::abs(x); }));
  register_activation("own_erf", each([](double x) { return std::erf(x); }));
  register_activation("own_gelu", each([](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }));
  register_activation("own_sign", each([](double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : 0.0); }));
  register_activation("own_clip", each([](double x) { return std::min(std::max(x, -1.0), 1.0); }));
  register_activation("own_noise", each([](double x) {
                        const double y = std::sin(1e5 * x) * 43758.5453;
                        return y - std::floor(y);
                      }));
}

Matrix<double> near_and_far(double norm) {
  Matrix<double> x(7, 3);
  const Random random(3);
  for (Index k = 0; k < 21; ++k) x.data()[k] = norm * random.normal(static_cast<std::uint64_t>(k));
  for (Index j = 0; j < 3; ++j) {
    x(3, j) = x(2, j) * (1 + (j == 0 ? 1e-4 : 0));  // nearly equal
    x(4, j) = -0.7 * x(1, j) + (j == 1 ? 1e-3 * norm : 0);
    x(5, j) = x(0, j);
    x(6, j) = 0;
  }
  return x;
}

/// User functions that equal built-in activations. Kinks amplify errors of 1e-19 in ρ, in the long double of the
/// reference, to 3e-10, and of 1e-16 for equal samples to 1e-8, as elsewhere.
TEST_P(Quadrature, UsersFunctionsEqualTheirClosedForms) {
  register_functions();
  const auto engine = make_engine(GetParam());
  for (const std::string name : {"relu", "abs", "erf", "gelu", "sign"}) {
    for (const double norm : {0.02, 1.0, 20.0}) {
      SCOPED_TRACE(name + " at " + std::to_string(norm));
      const Matrix<double> x = near_and_far(norm);
      const SampleView view(x.view(), {1, 1, 3});
      const Gram own = gram(Network::parse("dense(b_std=0.1) custom(name=own_" + name + ") dense"), view,
                            {.kind = Kind::both}, *engine);
      const Gram known =
          gram(Network::parse("dense(b_std=0.1) " + name + " dense"), view, {.kind = Kind::both}, *engine);
      EXPECT_EQ(known.quadrature_error, 0);
      EXPECT_GT(own.quadrature_error, 0);
      EXPECT_LT(own.quadrature_error, 1e-11);
      for (const auto kind : {&Gram::nngp, &Gram::ntk}) {
        const auto& a = std::get<Matrix<double>>(own.*kind);
        const auto& b = std::get<Matrix<double>>(known.*kind);
        for (Index i = 0; i < 7; ++i) {
          for (Index j = 0; j < 7; ++j) {
            const bool equal = i != j && i % 5 == 0 && j % 5 == 0;
            const double limit = (equal ? 1e-8 : 1e-12) + own.quadrature_error;
            EXPECT_NEAR(a(i, j), b(i, j), limit * std::sqrt(b(i, i) * b(j, j))) << i << ", " << j;
          }
        }
      }
    }
  }
}

/// A function that no quadrature resolves: both back ends state consistent errors.
TEST(QuadratureErrors, AreStatedByBothBackEndsAlike) {
  register_functions();
  const Matrix<double> x = near_and_far(1);
  const SampleView view(x.view(), {1, 1, 3});
  for (const std::string name : {"tanh", "custom(name=own_clip)", "custom(name=own_noise)"}) {
    SCOPED_TRACE(name);
    const Network network = Network::parse("dense(b_std=0.1) " + name + " dense relu dense");
    const GramOptions options{.kind = Kind::both};
    const bool noise = name.find("noise") != std::string::npos;
    const double fast = noise ? diagonal(network, view, *make_engine("cpu")).quadrature_error
                              : gram(network, view, options, *make_engine("cpu")).quadrature_error;
    const double slow = noise ? diagonal(network, view, *make_engine("reference")).quadrature_error
                              : gram(network, view, options, *make_engine("reference")).quadrature_error;
    EXPECT_NEAR(fast / slow, 1, 0.5);
    EXPECT_EQ(quadrature_warning(fast, Precision::f64).empty(), !noise);
    EXPECT_EQ(quadrature_warning(slow, Precision::f64).empty(), !noise);
    EXPECT_EQ(fast > 1e-3, noise);
  }
}

/// relu after relu is relu; a composed function is integrated as one function.
TEST_P(Quadrature, ChainsOfActivationsAreOne) {
  const auto engine = make_engine(GetParam());
  const Matrix<double> x = near_and_far(1);
  const SampleView view(x.view(), {1, 1, 3});
  const auto kernel = [&](const std::string& text) {
    return gram(Network::parse(text), view, {.kind = Kind::both}, *engine);
  };
  const auto expect_same = [&](const std::string& chain, const std::string& simple, double tolerance) {
    SCOPED_TRACE(chain);
    const Gram a = kernel(chain);
    const Gram b = kernel(simple);
    for (const auto kind : {&Gram::nngp, &Gram::ntk}) {
      const auto& left = std::get<Matrix<double>>(a.*kind);
      const auto& right = std::get<Matrix<double>>(b.*kind);
      for (Index k = 0; k < 49; ++k) EXPECT_NEAR(left.data()[k], right.data()[k], tolerance);
    }
  };
  expect_same("dense relu relu dense", "dense relu dense", 0);
  expect_same("dense relu abs dense", "dense relu dense", 0);
  expect_same("dense abs scale(by=2) relu dense", "dense abs dense(w_std=2)", 1e-14);
  expect_same("dense sigmoid relu identity dense", "dense sigmoid dense", 0);
  // Quadrature of functions with known equivalents: erf∘identity∘relu is relu followed by erf, and x³∘relu a rectified
  // monomial.
  expect_same("dense(b_std=0.3) relu monomial(degree=3) dense", "dense(b_std=0.3) rectified_monomial(degree=3) dense",
              1e-10);
  expect_same("dense(b_std=0.3) monomial(degree=2) monomial(degree=2) dense",
              "dense(b_std=0.3) monomial(degree=4) dense", 1e-8);
}

/// On planes: series of different lengths in groups of 16 images, functions that need more than a series, and nearly
/// equal images. Planes store ρ, so a kink of width 1/r costs r roundings of it, and equal images in different sets its
/// square root.
TEST(QuadratureOnPlanes, EqualsTheReference) {
  const auto fast = make_engine("cpu");
  const auto oracle = make_engine("reference");
  const Shape shape{2, 2, 2};
  Matrix<double> x(19, shape.size());
  const Random random(8);
  for (Index i = 0; i < 19; ++i) {
    const double size = std::pow(10.0, static_cast<double>(i % 5) - 2);
    for (Index j = 0; j < 8; ++j) x(i, j) = size * random.normal(static_cast<std::uint64_t>(8 * i + j));
  }
  const std::array<Index, 5> few{0, 3, 9, 17, 18};
  Matrix<double> some(5, 8);
  for (Index j = 0; j < 8; ++j) {
    x(18, j) = 1.001 * x(3, j);
    for (Index i = 0; i < 5; ++i) some(i, j) = x(few[static_cast<std::size_t>(i)], j);
  }
  for (const std::string text : {"conv tanh flatten dense", "conv relu softplus global_avg_pool dense",
                                 "conv(kernel=1x1) tanh sigmoid conv relu sin flatten dense"}) {
    if (WIDELIMIT_SANITIZED != 0 && text != "conv tanh flatten dense") continue;
    SCOPED_TRACE(text);
    const Network network = Network::parse(text);
    const GramOptions options{.kind = Kind::both};
    const Gram square = gram(network, {x.view(), shape}, options, *fast);
    const Gram rectangle = gram(network, {some.view(), shape}, {x.view(), shape}, options, *fast);
    const Gram expected = gram(network, {some.view(), shape}, options, *oracle);
    EXPECT_EQ(square.route.rfind("displacement planes", 0), 0U) << square.route;
    for (const auto kind : {&Gram::nngp, &Gram::ntk}) {
      const auto& exact = std::get<Matrix<double>>(expected.*kind);
      const auto& ours = std::get<Matrix<double>>(square.*kind);
      const auto& theirs = std::get<Matrix<double>>(rectangle.*kind);
      for (Index i = 0; i < 5; ++i) {
        for (Index j = 0; j < 5; ++j) {
          const double size = std::sqrt(exact(i, i) * exact(j, j));
          const Index col = few[static_cast<std::size_t>(j)];
          EXPECT_NEAR(ours(few[static_cast<std::size_t>(i)], col), exact(i, j), 1e-9 * size) << i << ", " << j;
          EXPECT_NEAR(theirs(i, col), exact(i, j), 1e-7 * size) << i << ", " << j;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Quadrature, testing::Values("cpu", "reference"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace widelimit
