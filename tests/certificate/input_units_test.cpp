#include "widelimit/certificate/certify.hpp"

#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/preparation/scaling.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {
namespace {

using test::machine_of;
using test::rows_of;

/// f(z) = 3⟨z, (1, −2, ½)⟩/3 − 1.5 at z = (2, −1, 1): f = 3.
Model linear_machine() {
  Matrix<double> support(1, 3), alpha(1, 1);
  support(0, 0) = 1, support(0, 1) = -2, support(0, 2) = 0.5;
  alpha(0, 0) = 3;
  return machine_of("dense", support, alpha, Scheme::sign, 2, {-1.5});
}

Matrix<double> row(std::initializer_list<double> values) {
  Matrix<double> x(1, std::ssize(values));
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

const std::vector<Index> positive{1};

TEST(InputUnits, RadiusOfALinearMachineIsThatOfItsOwnFeatures) {
  // z = (x − 1)/(10, 0.1, −2): f decreases by Σ|w_j/s_j| = 0.1 + 20 + 0.25 per unit of ε, and by 3.5 per unit of z.
  Model model = linear_machine();
  model.scaling = Scaler(Scaling::standard, {1, 1, 1}, {10, 0.1, -2});
  const Matrix<double> x = row({21, 0.9, -1});
  for (const CertificateMethod method : {CertificateMethod::interval, CertificateMethod::convex}) {
    CertifyOptions options{.method = method, .tolerance = 1e-6};
    const Certificates input = certify(model, rows_of(x), positive, options);
    EXPECT_EQ(input.units, CertificateUnits::input);
    EXPECT_NEAR(input.radius[0], 3 / 20.35, 1e-6);
    EXPECT_EQ(input.widths, (std::vector<double>{1, 1, 1}));
    options.units = CertificateUnits::scaled;
    const Certificates scaled = certify(model, rows_of(x), positive, options);
    EXPECT_NEAR(scaled.radius[0], 3 / 3.5, 1e-5);
    EXPECT_EQ(scaled.widths, (std::vector<double>{10, 0.1, 2}));
    // Only the first feature can change.
    options.widths = {1, 0, 0};
    EXPECT_NEAR(certify(model, rows_of(x), positive, options).radius[0], 3 / 0.1, 1e-3);
    // A box per feature, in units of the samples: the second can only increase to 0.95, which decreases f by 20·0.05
    // = 1.
    options = {.method = method, .box = Box({-1000, 0.9, -1000}, {1000, 0.95, 1000}), .tolerance = 1e-6};
    EXPECT_NEAR(certify(model, rows_of(x), positive, options).radius[0], 2 / 0.35, 1e-4);
  }
}

TEST(InputUnits, OneRadiusIsDecidedAsItIsSearched) {
  Model model = linear_machine();
  model.scaling = Scaler(Scaling::standard, {1, 1, 1}, {10, 0.1, -2});
  const Matrix<double> x = row({21, 0.9, -1});
  const double edge = 3 / 20.35;
  EXPECT_EQ(certify(model, rows_of(x), positive, {.radius = 0.999 * edge}).radius[0], 0.999 * edge);
  EXPECT_EQ(certify(model, rows_of(x), positive, {.radius = 1.001 * edge}).radius[0], 0);
}

/// Corners and random points of balls in the units of the samples, scaled in the same way as for predictions.
TEST(InputUnits, NoSampleInsideIsTakenForAnotherClass) {
  Index broken = 0, tried = 0, positive_radii = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Index features = 4, supports = 9, points = 6;
    const Matrix<double> support = normal_rows(supports, features, seed);
    Matrix<double> alpha = normal_rows(supports, 1, seed + 100);
    Model model = machine_of(seed % 3 == 2 ? "dense(b_std=0.5) relu dense" : "fc:2", support, alpha, Scheme::sign, 2);
    const Random random(seed, 7);
    std::vector<double> shift, scale, widths;
    for (std::uint64_t j = 0; j < 4; ++j) {
      shift.push_back(100 * (random.uniform(j) - 0.5));
      scale.push_back(std::pow(10, 6 * random.uniform(10 + j) - 3));
      widths.push_back(j == seed % 4 ? 0 : std::pow(10, 2 * random.uniform(20 + j) - 1));
    }
    model.scaling = Scaler(Scaling::standard, shift, scale);
    Matrix<double> x = normal_rows(points, features, seed + 200);
    for (Index i = 0; i < points; ++i) {
      for (Index j = 0; j < features; ++j) x(i, j) = x(i, j) * scale[usize(j)] + shift[usize(j)];
    }
    const Matrix<double> g = predict_decisions(model, rows_of(x), all_processors());
    std::vector<Index> labels;
    for (Index i = 0; i < points; ++i) labels.push_back(g(i, 0) > 0 ? 1 : 0);
    for (const bool own_widths : {false, true}) {
      CertifyOptions options{.attack = AttackOptions{.steps = 20, .restarts = 1}, .keep_attacked = true};
      if (own_widths) options.widths = widths;
      const Certificates found = certify(model, rows_of(x), labels, options);
      constexpr Index places = 64;
      for (Index i = 0; i < points; ++i) {
        EXPECT_LE(found.radius[usize(i)], found.attack[usize(i)]);
        positive_radii += found.radius[usize(i)] > 0 ? 1 : 0;
        Matrix<double> near(places, features);
        for (Index p = 0; p < places; ++p) {
          for (Index j = 0; j < features; ++j) {
            const auto draw = static_cast<std::uint64_t>((i * places + p) * features + j);
            const double u = 2 * random.uniform(1000 + draw) - 1;
            const double step = found.radius[usize(i)] * found.widths[usize(j)];
            near(p, j) = x(i, j) + step * (p % 2 == 0 ? (u > 0 ? 1 : -1) : u);
          }
        }
        const Matrix<double> there = predict_decisions(model, rows_of(near), all_processors());
        for (Index p = 0; p < places; ++p, ++tried) broken += (there(p, 0) > 0) != (labels[usize(i)] == 1) ? 1 : 0;
        // The samples found have the reported distance, and fixed features have not changed.
        if (!std::isfinite(found.attack[usize(i)])) continue;
        for (Index j = 0; j < features; ++j) {
          const double moved = std::abs(found.attacked(i, j) - x(i, j));
          const double rounding = 1e-12 * (std::abs(x(i, j)) + std::abs(shift[usize(j)]));
          EXPECT_LE(moved, found.attack[usize(i)] * found.widths[usize(j)] * (1 + 1e-9) + rounding);
        }
      }
    }
  }
  EXPECT_EQ(broken, 0) << "of " << tried;
  EXPECT_GT(positive_radii, 100);
}

/// Equal half-widths are equivalent to a radius in other units.
TEST(InputUnits, EqualWidthsAreACube) {
  const Matrix<double> support = normal_rows(8, 5, 3), alpha = normal_rows(8, 1, 4), x = normal_rows(4, 5, 5);
  const Model model = machine_of("fc:1", support, alpha, Scheme::sign, 2);
  const Matrix<double> g = predict_decisions(model, rows_of(x), all_processors());
  std::vector<Index> labels;
  for (Index i = 0; i < 4; ++i) labels.push_back(g(i, 0) > 0 ? 1 : 0);
  const Certificates one = certify(model, rows_of(x), labels, {.method = CertificateMethod::paper});
  const Certificates four =
      certify(model, rows_of(x), labels, {.method = CertificateMethod::paper, .widths = {4, 4, 4, 4, 4}});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(four.radius[i], one.radius[i] / 4, 1e-12 * one.radius[i]);
}

TEST(InputUnits, BytesAreMeasuredInBytes) {
  Model model = linear_machine();
  model.scaling = Scaler(Scaling::byte, {0, 0, 0}, {1, 1, 1});
  const Matrix<double> x = row({510, -255, 255});
  for (const Norm norm : {Norm::linf, Norm::l2}) {
    const double slope = norm == Norm::linf ? 3.5 : std::sqrt(5.25);
    const Certificates found = certify(model, rows_of(x), positive, {.norm = norm, .tolerance = 1e-6});
    EXPECT_NEAR(found.radius[0], 255 * 3 / slope, 255e-5);
  }
}

TEST(InputUnits, RefusesWhatHasNoMeaning) {
  Model model = linear_machine();
  const Matrix<double> x = row({2, -1, 1});
  const auto refusal = [&](const CertifyOptions& options) -> std::string {
    try {
      (void)certify(model, rows_of(x), positive, options);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_NE(refusal({.widths = {1, 1}}).find("2 half-widths for samples of 3"), std::string::npos);
  EXPECT_NE(refusal({.widths = {1, -1, 1}}).find("half-width -1 of feature 1"), std::string::npos);
  EXPECT_NE(refusal({.widths = {0, 0, 0}}).find("nothing to certify"), std::string::npos);
  EXPECT_NE(refusal({.norm = Norm::l2, .widths = {1, 1, 1}}).find("linf"), std::string::npos);
  EXPECT_NE(refusal({.method = CertificateMethod::paper, .widths = {1, 2, 3}}).find("equal width"), std::string::npos);
  EXPECT_NE(refusal({.box = Box({0, 0}, {1, 1})}).find("box of 2 features"), std::string::npos);
  EXPECT_THROW(Box({0, 0}, {1}), Error);
  model.scaling = Scaler(Scaling::standard, {0, 0, 0}, {1, 2, 3});
  EXPECT_NE(refusal({.norm = Norm::l2}).find("ellipsoid"), std::string::npos);
  EXPECT_EQ(refusal({.norm = Norm::l2, .units = CertificateUnits::scaled}), "");
  EXPECT_NE(refusal({.box = Box({0, -9, 0}, {1, 9, 9})}).find("value 2 at feature 0, outside the box [0, 1]"),
            std::string::npos);
  model.scaling = Scaler(Scaling::unit, {0, 0, 0}, {1, 1, 1});
  EXPECT_NE(refusal({.units = CertificateUnits::input}).find("own norm"), std::string::npos);
  EXPECT_EQ(refusal({}), "");
}

}  // namespace
}  // namespace widelimit
