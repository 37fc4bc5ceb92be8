#include "widelimit/recipe/quadrature/pair_mean.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/quadrature/logistic_mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace widelimit {
namespace {

template <typename F>
Pointwise function(F f) {
  return {"f",
          {[f](std::span<const double> x, std::span<double> y) {
             for (std::size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
           },
           nullptr}};
}

struct ClosedCase {
  const char* name;
  double (*f)(double);
  DualValue<long double> (*dual)(long double q1, long double q2, long double c);
};

const std::vector<ClosedCase>& closed_cases() {
  using R = long double;
  static const std::vector<ClosedCase> list{
      {"relu", [](double x) { return std::max(x, 0.0); },
       [](R q1, R q2, R c) {
         return rectifier_dual<R>(0, {q1, q2, c});
       }},
      {"leaky", [](double x) { return x > 0 ? x : 0.3 * x; },
       [](R q1, R q2, R c) {
         return rectifier_dual<R>(0.3, {q1, q2, c});
       }},
      {"erf", [](double x) { return std::erf(x); },
       [](R q1, R q2, R c) {
         return erf_dual<R>({q1, q2, c});
       }},
      {"gelu", [](double x) { return x * std::erfc(-x / std::numbers::sqrt2) / 2; },
       [](R q1, R q2, R c) {
         return gelu_dual<R>({q1, q2, c});
       }},
      {"sign", [](double x) { return static_cast<double>((x > 0) - (x < 0)); },
       [](R q1, R q2, R c) {
         return sign_dual<R>({q1, q2, c});
       }},
      {"gaussian", [](double x) { return std::exp(-x * x); },
       [](R q1, R q2, R c) {
         return gaussian_dual<R>({q1, q2, c});
       }}};
  return list;
}

/// Functions with known duals, computed by quadrature. Errors are relative to the square roots of the products of
/// second moments: 2e-14 for sums of some thousand rounded terms and, for φ', which is not given, the error that the
/// samples report. For t > 0 the closed forms themselves lose 1e-19/√t in long double.
TEST(PairMean, EqualsClosedForms) {
  for (const ClosedCase& c : closed_cases()) {
    const Pointwise phi = function(c.f);
    for (const auto& [s1, s2] :
         {std::pair(1.0, 1.0), {0.4, 1.7}, {3.0, 2.9}, {40.0, 25.0}, {1e-3, 2e-3}, {0.01, 30.0}}) {
      const GaussianSample first = sample_gaussian(phi, s1);
      const GaussianSample second = sample_gaussian(phi, s2);
      if (WIDELIMIT_SANITIZED != 0 && s1 < 1) continue;
      for (const double t : {0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.02, 0.039, 0.041, 0.2, 0.6, 1.0}) {
        if (WIDELIMIT_SANITIZED != 0 && t > 0 && t < 0.02) continue;
        for (const bool positive : {true, false}) {
          SCOPED_TRACE(fmt::format("{} of {} and {}, {}(1 - {})", c.name, s1, s2, positive ? "+" : "-", t));
          const auto r1 = static_cast<long double>(s1);
          const auto r2 = static_cast<long double>(s2);
          const long double rho = (positive ? 1 : -1) * (1 - static_cast<long double>(t));
          const DualValue<long double> exact = c.dual(r1 * r1, r2 * r2, rho * r1 * r2);
          const PairMean found = pair_mean(first, second, t, positive);
          const auto size = static_cast<double>(std::sqrt(first.square * second.square));
          const auto slope_size = static_cast<double>(std::sqrt(first.slope_square * second.slope_square));
          const double rounding = t > 0 ? 1e-19 / std::sqrt(t) : 0;
          const double slope_error = first.slope_error + second.slope_error;
          EXPECT_NEAR(found.sigma, static_cast<double>(exact.sigma), (2e-14 + rounding) * size);
          EXPECT_NEAR(found.dot, static_cast<double>(exact.dot), (2e-14 + rounding + slope_error) * slope_size);
        }
      }
    }
  }
}

/// After relu, 1 − ρ is t − θ³/3π + O(θ⁴), θ = √2t; the closed form is dominated by cancellation there.
TEST(PairMean, KeepsTheDigitsOfWhatIsLeftToOne) {
  const GaussianSample sample = sample_gaussian(function([](double x) { return std::max(x, 0.0); }), 2);
  for (const double t : {1e-14, 1e-10, 1e-6}) {
    const double expected = 1 - 2 * std::sqrt(2 * t) / (3 * std::numbers::pi);
    EXPECT_NEAR(pair_mean(sample, sample, t, true).apart / t, expected, 1e-7 + 2 * t);
  }
}

TEST(GaussianSample, MomentsAndTheirGrowth) {
  const GaussianSample relu = sample_gaussian(function([](double x) { return std::max(x, 0.0); }), 3);
  EXPECT_NEAR(static_cast<double>(relu.square), 4.5, 1e-14);
  EXPECT_NEAR(static_cast<double>(relu.slope_square), 0.5, 1e-14);
  EXPECT_NEAR(relu.growth, 2, 1e-12);        // E[φ²] = s²/2
  EXPECT_NEAR(relu.slope_growth, 0, 1e-12);  // a constant
  const GaussianSample exp = sample_gaussian(function([](double x) { return std::exp(x); }), 2);
  EXPECT_NEAR(static_cast<double>(exp.square) / std::exp(8.0), 1, 1e-13);  // e^{2s²}
  EXPECT_NEAR(exp.growth, 16, 1e-10);                                      // d log/d log s = 4s²
  const GaussianSample power = sample_gaussian(function([](double x) { return std::pow(x, 9); }), 1);
  EXPECT_NEAR(static_cast<double>(power.square) / 34459425.0, 1, 1e-13);  // 17!!
}

/// The reported error bounds the error of the square, for a function whose square is known.
TEST(GaussianSample, ErrorsAreHonest) {
  const auto oscillating = [](double x) {
    const double y = std::sin(1e5 * x) * 43758.5453;
    return y - std::floor(y);
  };
  const GaussianSample sample = sample_gaussian(function(oscillating), 1);
  EXPECT_GT(sample.error, 0.05);
  EXPECT_GT(2 * sample.error, std::abs(static_cast<double>(sample.square) * 3 - 1));  // uniform on [0, 1]: ⅓
}

TEST(GaussianSample, SaysWhereNoMeanExists) {
  const Pointwise phi = function([](double x) { return std::exp(x * x / 40); });
  EXPECT_NEAR(static_cast<double>(sample_gaussian(phi, 2).square), 1 / std::sqrt(0.6), 1e-13);  // 1/√(1 − s²/10)
  try {
    static_cast<void>(sample_gaussian(phi, 4));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
  }
}

TEST(GaussianSample, PiecesAreAsGoodAsTheFunction) {
  const Pointwise phi = function([](double x) { return std::atan(x); });
  for (const double s : {1e-3, 1.0, 70.0}) {
    const GaussianSample called = sample_gaussian(phi, s);
    const GaussianSample read = sample_pieces(phi, s);
    EXPECT_NEAR(static_cast<double>(read.square / called.square), 1, 1e-14);
    EXPECT_NEAR(static_cast<double>(read.slope_square / called.slope_square), 1, 1e-13);
  }
}

/// The mixture equals the function and its derivative everywhere.
TEST(LogisticMixture, IsTheLogisticFunction) {
  double weights = 0;
  for (const MixtureTerm& term : logistic_mixture()) weights += term.weight;
  EXPECT_NEAR(weights, 1, 1e-15);
  for (int k = 0; k <= 4000; ++k) {
    const double x = 0.01 * k;
    long double value = 0;
    long double slope = 0;
    for (const MixtureTerm& term : logistic_mixture()) {
      const auto scaled = static_cast<long double>(x) / static_cast<long double>(term.deviation);
      value += static_cast<long double>(term.weight) * std::erfc(scaled / std::numbers::sqrt2_v<long double>) / 2;
      slope += static_cast<long double>(term.weight) * std::exp(-scaled * scaled / 2) /
               (static_cast<long double>(term.deviation) * std::sqrt(2 * std::numbers::pi_v<long double>));
    }
    const long double e = std::exp(-static_cast<long double>(x));
    EXPECT_NEAR(static_cast<double>(value), static_cast<double>(e / (1 + e)), 3e-16) << x;
    EXPECT_NEAR(static_cast<double>(slope), static_cast<double>(e / ((1 + e) * (1 + e))), 5e-16) << x;
  }
}

}  // namespace
}  // namespace widelimit
