#include "tests/base/normal_rows.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

const Shape shape{1, 1, 6};

Matrix<double> normal(Index n, double scale) { return normal_rows(n, shape.size(), 21, scale); }

const Matrix<double>& f64(const AnyMatrix& matrix) { return std::get<Matrix<double>>(matrix); }

class Extremes : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Engine> engine = test::engine_named(GetParam());
};

/// A network without bias is homogeneous: inputs scaled by s give the kernel scaled by s².
TEST_P(Extremes, HugeAndTinyInputs) {
  const Network network = Network::parse("fc:3(w_std=1.4142135623730951)");
  const Matrix<double> x = normal(5, 1);
  const Gram unit = gram(network, {x.view(), shape}, {.kind = Kind::both}, *engine);
  for (const double scale : {1e150, 1e-150, 0x1p400, 0x1p-500}) {
    const Matrix<double> scaled = normal(5, scale);
    const Gram k = gram(network, {scaled.view(), shape}, {.kind = Kind::both}, *engine);
    const Gram mixed = gram(network, {scaled.view(), shape}, {x.view(), shape}, {.kind = Kind::both}, *engine);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 5; ++j) {
        EXPECT_NEAR(f64(k.ntk)(i, j) / scale / scale, f64(unit.ntk)(i, j), 1e-13) << scale;
        EXPECT_NEAR(f64(mixed.nngp)(i, j) / scale, f64(unit.nngp)(i, j), i == j ? 3e-8 : 1e-13) << scale;
      }
    }
  }
}

/// Variances of 1e±3200, whose products overflow any type; layer normalisation removes the scale. `cpu` rejects the
/// large ones.
TEST(ExtremesOfTheOracle, VariancesBeyondTheRangeOfTheirProducts) {
  const auto engine = make_engine("reference");
  const Network network = Network::parse("dense monomial(degree=8) dense layer_norm erf dense");
  const Matrix<double> x = normal(4, 1);
  const Gram unit = gram(network, {x.view(), shape}, {.kind = Kind::both}, *engine);
  for (const double scale : {1e200, 1e-200}) {
    const Matrix<double> scaled = normal(4, scale);
    const Gram k = gram(network, {scaled.view(), shape}, {.kind = Kind::both}, *engine);
    for (Index i = 0; i < 16; ++i) {
      EXPECT_NEAR(f64(k.nngp).data()[i], f64(unit.nngp).data()[i], 1e-13) << scale;
      EXPECT_NEAR(f64(k.ntk).data()[i] / f64(unit.ntk).data()[0], f64(unit.ntk).data()[i] / f64(unit.ntk).data()[0],
                  1e-12)
          << scale;
    }
  }
}

TEST_P(Extremes, BiasOutlivesTinyInputsAndDrownsInHugeOnes) {
  const Network network = Network::parse("dense(b_std=0.5) relu dense(b_std=0.5)");
  const Matrix<double> tiny = normal(3, 1e-150);
  const Matrix<double> zero = normal(3, 0);
  const Gram a = gram(network, {tiny.view(), shape}, {}, *engine);
  const Gram b = gram(network, {zero.view(), shape}, {}, *engine);
  for (Index k = 0; k < 9; ++k) EXPECT_NEAR(f64(a.ntk).data()[k], f64(b.ntk).data()[k], 1e-12);
}

TEST_P(Extremes, FloatsOfAnyScaleGoIntoFloats) {
  // Every deviation overflows or underflows float, but every product is in range.
  const Network network = Network::parse("fc:2(w_std=1.4142135623730951)");
  const Matrix<double> huge = normal(4, 1e100);
  const Matrix<double> tiny = normal(4, 1e-100);
  const Matrix<double> one = normal(4, 1);
  const GramOptions options{.precision = Precision::f32};
  const Gram k = gram(network, {huge.view(), shape}, {tiny.view(), shape}, options, *engine);
  const Gram expected = gram(network, {one.view(), shape}, {one.view(), shape}, {}, *engine);
  for (Index i = 0; i < 16; ++i) {
    EXPECT_NEAR(std::get<Matrix<float>>(k.ntk).data()[i], f64(expected.ntk).data()[i], 1e-5);
  }
}

TEST_P(Extremes, RealOverflowIsAnErrorThatSaysSo) {
  const auto message = [&](const std::string& text, double scale, Precision precision) -> std::string {
    const Matrix<double> x = normal(3, scale);
    try {
      static_cast<void>(gram(Network::parse(text), {x.view(), shape}, {.precision = precision}, *engine));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::numerical);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("fc:1", 1e30, Precision::f32).find("f64"), std::string::npos);
  EXPECT_NE(message("fc:1", 1e200, Precision::f64).find("scale"), std::string::npos);
  EXPECT_NE(message("dense exp dense exp dense", 30, Precision::f64).find("scale"), std::string::npos);
}

TEST_P(Extremes, ZeroDuplicateAntipodalAndParallelRows) {
  Matrix<double> x = normal(6, 1);
  for (Index j = 0; j < shape.size(); ++j) {
    x(1, j) = x(0, j);        // duplicate
    x(2, j) = -x(0, j);       // antipodal
    x(3, j) = 2.5 * x(0, j);  // parallel
    x(4, j) = 0;              // zero
  }
  for (const std::string text :
       {"fc:3(w_std=1.4142135623730951)", "fc:2(b_std=0.1)", "dense erf dense relu dense", "dense abs dense sign dense",
        "dense layer_norm relu dense", "dense gelu dense cos dense", "dense leaky_relu(slope=0.5) dense",
        "dense rectified_monomial(degree=3) dense", "dense rbf(gamma=0.5) dense", "dense tanh dense"}) {
    SCOPED_TRACE(text);
    const Gram k = gram(Network::parse(text), {x.view(), shape}, {.kind = Kind::both}, *engine);
    for (Index i = 0; i < 36; ++i) {
      EXPECT_TRUE(std::isfinite(f64(k.nngp).data()[i]));
      EXPECT_TRUE(std::isfinite(f64(k.ntk).data()[i]));
    }
    const auto& ntk = f64(k.ntk);
    EXPECT_NEAR(ntk(0, 1), ntk(0, 0), 1e-8 * std::abs(ntk(0, 0)));  // equal samples have equal kernels
    for (Index j = 0; j < 6; ++j) EXPECT_NEAR(ntk(0, j), ntk(1, j), 3e-8 * (1 + std::abs(ntk(0, j))));
  }
  const Gram relu = gram(Network::parse("fc:1"), {x.view(), shape}, {.kind = Kind::both}, *engine);
  EXPECT_NEAR(f64(relu.nngp)(0, 2), 0, 1e-16);                        // κ₁(−1) = 0
  EXPECT_NEAR(f64(relu.ntk)(0, 3), 2.5 * f64(relu.ntk)(0, 0), 1e-7);  // homogeneous
  for (Index j = 0; j < 6; ++j) EXPECT_EQ(f64(relu.ntk)(4, j), 0);    // zero input gives a zero kernel
}

/// 1 − ρ of nearly equal inputs keeps its accuracy through 50 layers: the kernel of x and x + δ differs from that of x
/// with itself by an amount of order ‖δ‖ (κ₀ has a square root singularity there), which rounding of ρ would hide.
TEST_P(Extremes, NearlyEqualInputsKeepTheirDigits) {
  const Network network = Network::parse("fc:50(w_std=1.4142135623730951)");
  const auto gap = [&](double delta, Precision precision) {
    Matrix<double> x = normal(2, 1);
    for (Index j = 0; j < shape.size(); ++j) x(1, j) = x(0, j) * (1 + (j % 2 == 0 ? delta : -delta));
    const Gram k = gram(network, {x.view(), shape}, {.precision = precision}, *engine);
    return std::visit(
        [](const auto& m) {
          return 1 -
                 static_cast<double>(m(0, 1)) / std::sqrt(static_cast<double>(m(0, 0)) * static_cast<double>(m(1, 1)));
        },
        k.ntk);
  };
  // Linear for small δ: the ratio of the gaps equals the ratio of the δ.
  EXPECT_NEAR(gap(1e-6, Precision::f64) / gap(1e-5, Precision::f64), 0.1, 1e-3);
  EXPECT_NEAR(gap(1e-8, Precision::f64) / gap(1e-5, Precision::f64), 1e-3, 1e-4);
  EXPECT_NEAR(gap(1e-4, Precision::f32) / gap(1e-3, Precision::f64), 0.1, 2e-2);
}

INSTANTIATE_TEST_SUITE_P(Engines, Extremes, testing::ValuesIn(test::engines_and_cuda({"cpu", "reference", "emulated"})),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace widelimit
