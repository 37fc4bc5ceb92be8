#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/certify.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

using test::machine_of;
using test::rows_of;

void multiply_rows(Matrix<double>& rows, int exponent) {
  for (Index i = 0; i < rows.rows() * rows.cols(); ++i) rows.data()[i] = std::ldexp(rows.data()[i], exponent);
}

TEST(BinaryScale, LeavesOrdinaryNumbersAsTheyAre) {
  for (const double x : {0.0, 1e-9, 1.0, 2e9, 0x1p-31}) EXPECT_EQ(scale_exponent(x), 0) << x;
  EXPECT_EQ(scale_exponent(0x1p-33), -64);
  EXPECT_EQ(scale_exponent(0x1p+40), 64);
  EXPECT_EQ(scale_exponent(std::numeric_limits<double>::denorm_min()), -1088);
  EXPECT_EQ(scale_exponent(std::numeric_limits<double>::infinity()), 0);
}

TEST(BinaryScale, RoundsOutward) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(scaled_below(3.0, -1075), tiny);  // 1.5 times the smallest denormal
  EXPECT_EQ(scaled_above(3.0, -1075), 2 * tiny);
  EXPECT_EQ(scaled_below(-3.0, -1075), -2 * tiny);
  EXPECT_EQ(scaled_below(1.0, -1200), 0);
  EXPECT_EQ(scaled_above(1.0, -1200), tiny);
  EXPECT_EQ(scaled_below(1.0, 1100), 0x1p+600);
  EXPECT_EQ(scaled_above(1.0, 1100), std::numeric_limits<double>::infinity());
  EXPECT_EQ(scaled_below(-1.0, 1100), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(unscaled_radius(1.5, -1074), tiny);
  EXPECT_EQ(unscaled_radius(1.0, 1100), std::numeric_limits<double>::max());
  EXPECT_GT(unscaled_bound(1.0, -2000), 0);
  EXPECT_LT(unscaled_bound(0x1p-300, 0), 0);
}

/// |f|/‖w‖ for f = ⟨w, x⟩ + b, in long double.
long double linear_radius(const Model& model, const double* x, Norm norm) {
  const auto& support = std::get<Matrix<double>>(model.support);
  const auto size = static_cast<long double>(support.cols());
  long double f = model.bias[0], length = 0;
  for (Index j = 0; j < support.cols(); ++j) {
    long double w = 0;
    for (Index i = 0; i < support.rows(); ++i) w += model.alpha(i, 0) * static_cast<long double>(support(i, j)) / size;
    f += w * x[j];
    length = norm == Norm::l2 ? std::hypot(length, w) : length + std::abs(w);
  }
  return std::abs(f) / length;
}

/// The exact radius of a linear machine is known: for any tolerance, no larger radius is returned, and none that is
/// much smaller.
TEST(CertifyScales, GivesNoRadiusThatWasNotProved) {
  for (const double tolerance : {1e-9, 1e-8, 1e-6, 1e-3}) {
    for (const Norm norm : {Norm::linf, Norm::l2}) {
      for (const CertificateMethod method : {CertificateMethod::interval, CertificateMethod::convex}) {
        for (std::uint64_t seed = 1; seed < 9; ++seed) {
          const Model model =
              machine_of("dense", normal_rows(5, 3, seed), normal_rows(5, 1, seed + 100), Scheme::values, 0, {0.1});
          const Matrix<double> x = normal_rows(6, 3, seed + 200);
          std::vector<Index> labels;
          for (Index k = 0; k < x.rows(); ++k) labels.push_back(test::exact_output(model, 0, x.view().row(k), 0) > 0);
          const Certificates found =
              certify(model, rows_of(x), labels, {.norm = norm, .method = method, .tolerance = tolerance});
          for (Index k = 0; k < x.rows(); ++k) {
            const long double exact = linear_radius(model, x.view().row(k), norm);
            EXPECT_LT(found.radius[usize(k)], exact) << "tolerance " << tolerance << ", seed " << seed;
            // Balls that contain or nearly contain the origin use the interval method.
            const long double length = std::hypot(x(k, 0), x(k, 1), x(k, 2));
            if (method == CertificateMethod::convex && 2 * exact < length) {
              EXPECT_GT(found.radius[usize(k)], exact * (1 - 2.1L * tolerance - 1e-12L)) << "tolerance " << tolerance;
            }
          }
        }
      }
    }
  }
}

/// Scaling by powers of two changes only units: of samples, also with biases in the first layer.
TEST(CertifyScales, RadiiScaleWithSamples) {
  const std::vector<Index> labels{0, 1, 1, 0, 1};
  for (const bool biased : {false, true}) {
    for (const Norm norm : {Norm::linf, Norm::l2}) {
      const auto certified = [&](int points, int support, int alpha) {
        Matrix<double> rows = normal_rows(9, 4, 3), weights = normal_rows(9, 1, 4), x = normal_rows(5, 4, 5);
        multiply_rows(rows, support);
        multiply_rows(weights, alpha);
        multiply_rows(x, points);
        const double bias = biased ? std::ldexp(0.5, support) : 0;
        const std::string network = fmt::format("dense(b_std={}) relu dense relu dense", bias);
        return certify(machine_of(network, rows, weights, Scheme::sign, 2), rows_of(x), labels,
                       {.norm = norm, .attack = AttackOptions{}});
      };
      const Certificates plain = certified(0, 0, 0);
      const Certificates scaled = biased ? certified(-448, -448, 832) : certified(-640, 320, 256);
      for (std::size_t k = 0; k < labels.size(); ++k) {
        EXPECT_EQ(plain.correct[k], scaled.correct[k]);
        EXPECT_EQ(std::ldexp(plain.radius[k], biased ? -448 : -640), scaled.radius[k]);
        EXPECT_EQ(std::isfinite(scaled.attack[k]), std::isfinite(plain.attack[k]));
        if (std::isfinite(plain.attack[k])) {
          EXPECT_NEAR(std::ldexp(scaled.attack[k], biased ? 448 : 640), plain.attack[k], 1e-9 * plain.attack[k]);
        }
        EXPECT_NEAR(std::ldexp(scaled.margin[k], 64), plain.margin[k], 1e-12);
      }
    }
  }
}

/// Points of different scales in one call get the same results as alone, in order. Outputs are matrix products, whose
/// rounding on a device depends on the number of points; attack descents start from them.
TEST(CertifyScales, PointsOfAllSizesStandTogether) {
  const Model model = machine_of("fc:1", normal_rows(8, 3, 11), normal_rows(8, 1, 12), Scheme::sign, 2);
  Matrix<double> x = normal_rows(7, 3, 13);
  const std::vector<int> exponents{0, -900, 300, 0, -1000, 300, 70};
  for (Index k = 0; k < x.rows(); ++k) {
    for (Index j = 0; j < x.cols(); ++j) x(k, j) = std::ldexp(x(k, j), exponents[usize(k)]);
  }
  std::vector<Index> labels;
  for (Index k = 0; k < x.rows(); ++k) labels.push_back(test::exact_output(model, 1, x.view().row(k), 0) > 0);
  CertifyOptions options{.attack = AttackOptions{.steps = 5, .restarts = 0}, .keep_attacked = true};
  const Certificates all = certify(model, rows_of(x), labels, options);
  for (Index k = 0; k < x.rows(); ++k) {
    Matrix<double> one(1, 3);
    std::copy_n(x.view().row(k), 3, one.data());
    const Certificates alone = certify(model, rows_of(one), std::span(labels).subspan(usize(k), 1), options);
    EXPECT_GT(all.radius[usize(k)], 0);
    EXPECT_EQ(all.radius[usize(k)], alone.radius[0]);
    EXPECT_NEAR(all.margin[usize(k)], alone.margin[0], 1e-12 * alone.margin[0]);
    EXPECT_NEAR(all.attack[usize(k)], alone.attack[0], 1e-9 * alone.attack[0]);
    for (Index j = 0; j < 3; ++j) {
      EXPECT_NEAR(all.attacked(k, j), alone.attacked(0, j), 1e-9 * std::abs(alone.attacked(0, j)));
    }
  }
}

TEST(CertifyScales, RefusesOutputsThatOverflowAndHasNoRadiusWhereTheyVanish) {
  Matrix<double> support = normal_rows(4, 3, 21), alpha = normal_rows(4, 1, 22), x = normal_rows(2, 3, 23);
  multiply_rows(x, 600);
  multiply_rows(alpha, 600);
  const std::vector<Index> labels{0, 0};
  try {
    (void)certify(machine_of("fc:1", support, alpha, Scheme::sign, 2), rows_of(x), labels, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_NE(std::string(error.what()).find("overflows"), std::string::npos) << error.what();
  }
  multiply_rows(x, -1200);
  multiply_rows(alpha, -1200);
  const Certificates vanished = certify(machine_of("fc:1", support, alpha, Scheme::values, 0), rows_of(x), labels, {});
  for (const double radius : vanished.radius) EXPECT_EQ(radius, 0);
}

/// A bias of the first layer acts as a coordinate that can dominate tiny points: radii are then on its scale.
TEST(CertifyScales, RadiiOfTinyPointsBesideABiasAreThoseOfZero) {
  const Model model =
      machine_of("dense(b_std=1) relu dense", normal_rows(8, 3, 41), normal_rows(8, 1, 42), Scheme::values, 0);
  Matrix<double> x = normal_rows(2, 3, 43);
  for (Index j = 0; j < 3; ++j) x(0, j) = 0, x(1, j) = std::ldexp(x(1, j), -1000);
  for (const Index label : {0, 1}) {
    const std::vector<Index> both{label, label};
    const Certificates found = certify(model, rows_of(x), both, {});
    EXPECT_EQ(found.correct[0], found.correct[1]);
    EXPECT_EQ(found.radius[0], found.radius[1]);
    if (found.correct[0]) {
      EXPECT_GT(found.radius[0], 1e-3);
    }
  }
}

/// A requested radius is in the caller's units.
TEST(CertifyScales, AnswersForOneRadiusAtEveryScale) {
  Matrix<double> support = normal_rows(8, 3, 31), alpha = normal_rows(8, 1, 32), x = normal_rows(1, 3, 33);
  multiply_rows(x, -900);
  const Model model = machine_of("fc:1", support, alpha, Scheme::sign, 2);
  const std::vector<Index> labels{test::exact_output(model, 1, x.view().row(0), 0) > 0};
  const double found = certify(model, rows_of(x), labels, {}).radius[0];
  ASSERT_GT(found, 0);
  const auto radius_if = [&](double radius) {
    return certify(model, rows_of(x), labels, {.radius = radius}).radius[0];
  };
  EXPECT_EQ(radius_if(found / 2), found / 2);
  EXPECT_EQ(radius_if(std::numeric_limits<double>::denorm_min()), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(radius_if(found * 1.01), 0);
  EXPECT_EQ(radius_if(1e300), 0);
}

}  // namespace
}  // namespace widelimit
