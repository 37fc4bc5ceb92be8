#include "widelimit/certificate/cone/cone_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/select.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace widelimit {
namespace {

/// κ and its derivatives by the recursion in long double, one u at a time.
struct ConeOracle {
  long double value = 0, slope = 0;
};

ConeOracle cone_oracle(const std::vector<host::ConeLayer>& layers, long double trained, bool tangent, long double u) {
  const long double pi = std::numbers::pi_v<long double>;
  long double rho = u, rho1 = 1, theta = trained * u, theta1 = trained;
  for (const host::ConeLayer& layer : layers) {
    const long double a = layer.linear, b = layer.bend;
    const long double angle = pi - std::acos(rho), root = std::sqrt((1 - rho) * (1 + rho));
    const long double factor = a + b * angle / pi, factor1 = b / (pi * root) * rho1;
    rho = a * rho + b * (root + angle * rho) / pi;
    rho1 *= factor;
    theta1 = theta1 * factor + theta * factor1 + layer.trained * rho1;
    theta = theta * factor + layer.trained * rho;
  }
  return tangent ? ConeOracle{theta, theta1} : ConeOracle{rho, rho1};
}

std::vector<double> angles_to_try() {
  std::vector<double> u{-1, -1 + 0x1p-53, -0.9999999, -0.5, 0, 1e-9, 0.5, 1 - 1e-12, 1 - 0x1p-53, 1};
  const Random random(7);
  for (std::uint64_t k = 0; k < 491; ++k) u.push_back(2 * random.uniform(k) - 1);
  return u;
}

class ConeKernelDepth : public testing::TestWithParam<int> {};

TEST_P(ConeKernelDepth, AgreesWithTheGramOfTheReferenceBackEnd) {
  const Network network = Network::parse(fmt::format("fc:{}(w_std=1.3)", GetParam()));
  const Index features = 7, count = 6;
  Matrix<double> x(count, features);
  const Random random(3);
  random.normals(0, count * features, 1.0, x.data());
  for (Index j = 0; j < features; ++j) x(1, j) = -2 * x(0, j), x(2, j) = x(0, j) * (1 + 1e-3 * x(3, j));
  const Shape shape{1, 1, features};
  const auto engine = make_engine("reference");
  for (const Kind kind : {Kind::ntk, Kind::nngp}) {
    const Gram k = gram(network, SampleView(x.view(), shape), {.kind = kind}, *engine);
    const auto& entries = std::get<Matrix<double>>(kind == Kind::ntk ? k.ntk : k.nngp);
    const ConeKernel cone(network, kind, shape);
    EXPECT_EQ(cone.depth(), GetParam());
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) {
        long double dot = 0, n = 0, m = 0;
        for (Index c = 0; c < features; ++c) {
          dot += static_cast<long double>(x(i, c)) * x(j, c);
          n += static_cast<long double>(x(i, c)) * x(i, c), m += static_cast<long double>(x(j, c)) * x(j, c);
        }
        const auto length = static_cast<double>(std::sqrt(n) * std::sqrt(m));
        const auto u = static_cast<double>(std::clamp(dot / (std::sqrt(n) * std::sqrt(m)), -1.0L, 1.0L));
        // The rounding of u is amplified to 1e-8 by √(1−u) near ±1.
        EXPECT_NEAR(cone.scale() * length * cone.value(u), entries(i, j), 1e-7 * cone.scale() * length);
      }
    }
  }
}

TEST_P(ConeKernelDepth, KeepsWhatItPromisesOfItsErrors) {
  const Network network = Network::parse(fmt::format("fc:{}", GetParam()));
  const std::vector<host::ConeLayer> layers(static_cast<std::size_t>(GetParam()), host::ConeLayer{});
  const std::vector<double> u = angles_to_try();
  std::vector<double> value(u.size()), slope(u.size());
  for (const bool tangent : {true, false}) {
    const ConeKernel cone(network, tangent ? Kind::ntk : Kind::nngp, {1, 1, 5});
    cone.evaluate(std::ssize(u), {.u = u.data(), .value = value.data(), .slope = slope.data()});
    EXPECT_LT(cone.value_error(), 1e-10);
    for (std::size_t k = 0; k < u.size(); ++k) {
      // In deep networks the oracle itself loses accuracy in 1 − ρ.
      if (GetParam() > 1 && 1 - std::abs(u[k]) < 1e-6 && std::abs(u[k]) != 1) continue;
      const ConeOracle exact = cone_oracle(layers, 1, tangent, u[k]);
      EXPECT_LE(std::abs(static_cast<double>(value[k] - exact.value)), cone.value_error()) << u[k];
      if (std::abs(u[k]) == 1) continue;
      EXPECT_LE(std::abs(static_cast<double>(slope[k] - exact.slope)),
                cone.slope_error() * (1 + 1 / std::sqrt(1 - std::abs(u[k]))))
          << u[k];
    }
  }
}

TEST_P(ConeKernelDepth, KnowsItsShape) {
  for (const Kind kind : {Kind::ntk, Kind::nngp}) {
    const ConeKernel cone(Network::parse(fmt::format("fc:{}", GetParam())), kind, {1, 1, 5});
    EXPECT_TRUE(cone.convex());
    EXPECT_TRUE(cone.convex_on(-1, 1));
    EXPECT_NEAR(cone.value(cone.lowest()), cone.lowest_value(), 2 * cone.value_error() + 1e-13);
    for (const double u : angles_to_try()) {
      EXPECT_GE(cone.value(u), cone.lowest_value());
      EXPECT_GE(cone.value(u), (u > 0 ? cone.ray_above() : cone.ray_below()).slope * u - 1e-15);
    }
    for (const SupportingRay* ray : {&cone.ray_above(), &cone.ray_below()}) {
      const double u = (ray->low + ray->high) / 2;
      const double doubt = cone.value_error() + cone.slope_error() * (1 + 1 / std::sqrt(1 - std::abs(u) + 0x1p-53));
      EXPECT_NEAR(cone.value(u), ray->slope * u, 8 * (std::abs(u) < 1 ? doubt : cone.value_error()) + 1e-14);
    }
    EXPECT_EQ(cone.value(1), cone.largest());
  }
}

INSTANTIATE_TEST_SUITE_P(Depths, ConeKernelDepth, testing::Values(1, 2, 3, 5, 9, 40));

TEST(ConeKernel, TellsTheMinimumOfTheTwoLayerNetwork) {
  const ConeKernel cone(Network::parse("eq2"), Kind::ntk, {28, 28, 1});
  EXPECT_NEAR(cone.lowest(), -0.79410, 5e-6);
  // h = 2πκ of the paper has the minimum −0.4297378…; half of its 2u(π−arccos u) + √(1−u²) is πκ.
  EXPECT_NEAR(cone.lowest_value() * std::numbers::pi, -0.4297378, 1e-6);
  EXPECT_NEAR(cone.ray_above().slope * cone.ray_above().high, cone.value(std::sqrt(0.5)), 1e-7);
  EXPECT_DOUBLE_EQ(cone.scale(), 1.0 / (2 * 784));
}

TEST(ConeKernel, TakesLeakyRectifiersAndScales) {
  const Network network =
      Network::parse("dense(w_std=2) leaky_relu(slope=0.3) scale(by=3) dense leaky_relu(slope=0.3) dense");
  const ConeKernel cone(network, Kind::ntk, {1, 1, 2});
  const auto engine = make_engine("reference");
  Matrix<double> x(2, 2);
  for (int k = 0; k <= 20; ++k) {
    const double angle = std::numbers::pi * k / 20;
    x(0, 0) = 1.5, x(0, 1) = 0, x(1, 0) = 0.7 * std::cos(angle), x(1, 1) = 0.7 * std::sin(angle);
    const Gram g = gram(network, SampleView(x.view(), {1, 1, 2}), {}, *engine);
    EXPECT_NEAR(cone.scale() * 1.5 * 0.7 * cone.value(std::cos(angle)), std::get<Matrix<double>>(g.ntk)(0, 1), 1e-7);
  }
  EXPECT_TRUE(cone.convex());
}

TEST(ConeKernel, RefusesWhatItCannotDescribe) {
  const auto message = [](const char* text, Shape shape = {1, 1, 4}) -> std::string {
    try {
      const ConeKernel cone(Network::parse(text), Kind::ntk, shape);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("dense relu dense(b_std=0.1)").find("layer 3 (dense(b_std=0.1)) has a bias"), std::string::npos);
  EXPECT_NE(message("dense erf dense").find("layer 2 (erf)"), std::string::npos);
  EXPECT_NE(message("dense leaky_relu(slope=-0.5) dense").find("layer 2"), std::string::npos);
  EXPECT_NE(message("dense abs dense").find("layer 2"), std::string::npos);
  EXPECT_NE(message("conv relu flatten dense", {4, 4, 1}).find("layer 1"), std::string::npos);
  EXPECT_NE(message("relu flatten dense", {4, 4, 1}).find("flatten first"), std::string::npos);
  EXPECT_NE(message("dense layer_norm dense").find("layer 2"), std::string::npos);
  EXPECT_EQ(message("flatten dense relu dense", {4, 4, 1}), "");
}

/// Certificates parse the same functions as kernels: consecutive rectifiers are merged, unsupported layers are
/// rejected.
TEST(ConeKernel, RectifiersInARowAreOne) {
  const Shape shape{1, 1, 3};
  const auto value = [&](const std::string& text, double u) {
    return ConeKernel(Network::parse(text), Kind::ntk, shape).value(u);
  };
  for (const double u : {-0.8, 0.1, 0.7}) {
    EXPECT_EQ(value("dense relu relu dense", u), value("dense relu dense", u));
    EXPECT_EQ(value("dense relu scale(by=3) leaky_relu(slope=0.2) dense", u), value("dense relu scale(by=3) dense", u));
    EXPECT_EQ(value("dense relu identity dense", u), value("dense relu dense", u));
  }
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      static_cast<void>(value(text, 0));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("relu dense").find("layer 1 (relu) reads the network's inputs"), std::string::npos);
  EXPECT_NE(refusal("dense leaky_relu(slope=0.5) scale(by=-1) relu scale(by=-1) leaky_relu(slope=0.3) dense abs dense")
                .find("abs"),
            std::string::npos);
}

}  // namespace
}  // namespace widelimit
