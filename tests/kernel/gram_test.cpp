#include "widelimit/kernel/gram.hpp"

#include "tests/base/normal_rows.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace widelimit {
namespace {

const std::vector<std::string> vector_networks = {
    "fc:1",
    "fc:3(w_std=1.4142135623730951, b_std=0.1)",
    "dense(b_std=0.2) erf dense leaky_relu(slope=0.2) dense gelu dense",
    "dense abs dense(b_std=0.5) sin dense",
    "dense residual{ relu dense(b_std=0.1) | dense(w_std=0.7) } relu dense",
    "dense layer_norm relu dropout(rate=0.8) dense",
    "dense residual{ relu dense scale(by=-0.5) } relu scale(by=2) dense",
    "dense tanh dense sigmoid dense",
    "dense cos dense rectified_monomial(degree=2) dense exp dense",
    "dense gaussian dense polynomial(coef=[0.1, 0.6, 0.3]) dense"};
const std::vector<std::string> image_networks = {
    "conv relu conv(strides=2) relu global_avg_pool dense",
    "conv erf avg_pool conv(padding=CIRCULAR) relu flatten dense",
    "conv residual{ relu conv | conv(kernel=1) } relu attention flatten dense", "conv(kernel=2x3) swish flatten dense"};

Matrix<double> rows_of(const Matrix<double>& x, const std::vector<Index>& order) {
  Matrix<double> result(static_cast<Index>(order.size()), x.cols());
  for (Index i = 0; i < result.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) result(i, j) = x(order[static_cast<std::size_t>(i)], j);
  }
  return result;
}

const Matrix<double>& in_double(const AnyMatrix& matrix) { return std::get<Matrix<double>>(matrix); }

double largest_difference(const AnyMatrix& a, const AnyMatrix& b) {
  double largest = 0;
  const auto& left = in_double(a);
  const auto& right = in_double(b);
  EXPECT_EQ(left.rows(), right.rows());
  EXPECT_EQ(left.cols(), right.cols());
  for (Index k = 0; k < left.rows() * left.cols(); ++k) {
    const double scale = 1 + std::abs(right.data()[k]);
    largest = std::max(largest, std::abs(left.data()[k] - right.data()[k]) / scale);
  }
  return largest;
}

struct Case {
  Network network;
  Shape shape;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const auto& text : vector_networks) result.push_back({Network::parse(text), {1, 1, 7}});
  for (const auto& text : image_networks) result.push_back({Network::parse(text), {5, 4, 3}});
  return result;
}

/// Properties of every fast engine.
class GramOf : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Engine> engine = test::engine_named(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Engines, GramOf, testing::ValuesIn(test::engines_and_cuda({"cpu", "emulated"})),
                         [](const auto& of) { return of.param; });

/// Against the reference engine: 1e-12 for inputs that are not nearly equal, plus the reported quadrature error. The
/// functions of a device have errors of some ulps more.
TEST_P(GramOf, EqualsTheReference) {
  const auto oracle = make_engine("reference");
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.network.to_text());
    const Index n = exactness(c.network) == Exactness::quadrature ? 3 : 6;
    const Matrix<double> x1 = normal_rows(n, c.shape.size(), 1);
    const Matrix<double> x2 = normal_rows(n + 1, c.shape.size(), 2);
    const GramOptions options{.kind = Kind::both};
    const Gram ours = gram(c.network, {x1.view(), c.shape}, {x2.view(), c.shape}, options, *engine);
    const Gram expected = gram(c.network, {x1.view(), c.shape}, {x2.view(), c.shape}, options, *oracle);
    const double limit = (GetParam() == "cpu" ? 1e-12 : 4e-12) + 10 * ours.quadrature_error;
    EXPECT_LE(ours.quadrature_error, 1e-9);
    EXPECT_LE(largest_difference(ours.nngp, expected.nngp), limit);
    EXPECT_LE(largest_difference(ours.ntk, expected.ntk), limit);
  }
}

TEST_P(GramOf, SymmetricIsTheRectangleAndExactlySymmetric) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.network.to_text());
    const Index n = c.shape.is_vector() ? 37 : 6;
    const Matrix<double> x = normal_rows(n, c.shape.size(), 3);
    const SampleView view(x.view(), c.shape);
    const Gram symmetric = gram(c.network, view, {.kind = Kind::both}, *engine);
    const Gram rectangle = gram(c.network, view, view, {.kind = Kind::both}, *engine);
    for (const auto kind : {&Gram::nngp, &Gram::ntk}) {
      const auto& s = in_double(symmetric.*kind);
      const auto& r = in_double(rectangle.*kind);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          EXPECT_EQ(s(i, j), s(j, i));
          // Only dropout distinguishes a sample with itself from two equal samples; in that case only the other pairs
          // are compared.
          const bool comparable = i != j || c.network.to_text().find("dropout") == std::string::npos;
          if (comparable) {
            EXPECT_NEAR(s(i, j), r(i, j), 3e-8 * (1 + std::abs(s(i, j)))) << i << ", " << j;
          }
        }
      }
    }
  }
}

TEST_P(GramOf, PermutedInputsPermuteTheKernel) {
  const std::vector<Index> order{4, 0, 3, 1, 5, 2};
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.network.to_text());
    const Matrix<double> x = normal_rows(6, c.shape.size(), 4);
    const Matrix<double> permuted = rows_of(x, order);
    const Gram plain = gram(c.network, {x.view(), c.shape}, {}, *engine);
    const Gram moved = gram(c.network, {permuted.view(), c.shape}, {}, *engine);
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 6; ++j) {
        const double expected =
            in_double(plain.ntk)(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
        EXPECT_NEAR(in_double(moved.ntk)(i, j), expected, 1e-13 * (1 + std::abs(expected)));
      }
    }
  }
}

/// Checks xᵀKx ≥ −n·eps·trace for every x by Cholesky of K + ridge.
void expect_positive_semidefinite(const Matrix<double>& k) {
  const Index n = k.rows();
  double trace = 0;
  for (Index i = 0; i < n; ++i) trace += k(i, i);
  Matrix<double> l(n, n);
  const double ridge = 1e-12 * trace;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double sum = k(i, j) + (i == j ? ridge : 0.0);
      for (Index m = 0; m < j; ++m) sum -= l(i, m) * l(j, m);
      if (i == j) {
        ASSERT_GT(sum, 0) << "leading minor " << i + 1;
        l(i, i) = std::sqrt(sum);
      } else {
        l(i, j) = sum / l(j, j);
      }
    }
  }
}

TEST_P(GramOf, IsPositiveSemidefinite) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.network.to_text());
    const Matrix<double> x = normal_rows(12, c.shape.size(), 5);
    const Gram k = gram(c.network, {x.view(), c.shape}, {.kind = Kind::both}, *engine);
    expect_positive_semidefinite(in_double(k.nngp));
    expect_positive_semidefinite(in_double(k.ntk));
  }
}

TEST(Gram, AnySize) {
  for (const std::string& name : test::engines_and_cuda({"cpu", "reference", "emulated"})) {
    const auto engine = test::engine_named(name);
    for (const Index n : {0, 1, 2, 37}) {
      for (const Index m : {0, 1, 37}) {
        const Matrix<double> x1 = normal_rows(n, 3, 6);
        const Matrix<double> x2 = normal_rows(m, 3, 7);
        const Gram k = gram(Network::parse("fc:2"), {x1.view(), {1, 1, 3}}, {x2.view(), {1, 1, 3}}, {}, *engine);
        EXPECT_EQ(in_double(k.ntk).rows(), n);
        EXPECT_EQ(in_double(k.ntk).cols(), m);
      }
    }
  }
}

/// Two-layer kernel of EQ: Θ = ⟨x,x'⟩/d·(π−arccos u)/π + ‖x‖‖x'‖√(1−u²)/(2πd).                [docs/theory/kernels.md]
TEST(Gram, TwoLayerFormula) {
  const Matrix<double> x = normal_rows(9, 5, 8);
  for (const std::string& name : test::engines_and_cuda({"cpu", "reference", "emulated"})) {
    const Gram k = gram(Network::parse("eq2"), {x.view(), {1, 1, 5}}, {}, *test::engine_named(name));
    for (Index i = 0; i < 9; ++i) {
      for (Index j = 0; j < 9; ++j) {
        double dot = 0;
        double a = 0;
        double b = 0;
        for (Index m = 0; m < 5; ++m) dot += x(i, m) * x(j, m), a += x(i, m) * x(i, m), b += x(j, m) * x(j, m);
        const double u = std::clamp(dot / std::sqrt(a * b), -1.0, 1.0);
        const double pi = std::numbers::pi;
        const double expected =
            dot / 5 * (pi - std::acos(u)) / pi + std::sqrt(a * b) * std::sqrt(1 - u * u) / (2 * pi * 5);
        EXPECT_NEAR(in_double(k.ntk)(i, j), expected, (i == j ? 1e-7 : 1e-13) * (1 + std::abs(expected)));
      }
    }
  }
}

/// ReLU with w_std = √2 preserves variances, so each of the L+1 weight layers adds 2‖x‖²/d to Θ(x,x). Exact, whereas
/// the reference values take the square root of a difference with cancellation.
TEST(Gram, DiagonalOfReluHasAClosedForm) {
  const Matrix<double> x = normal_rows(5, 6, 15);
  for (const std::string& name : test::engines_and_cuda({"cpu", "reference", "emulated"})) {
    for (const int hidden : {1, 3, 20}) {
      const Network network = Network::parse("fc:" + std::to_string(hidden) + "(w_std=1.4142135623730951)");
      const Gram k = gram(network, {x.view(), {1, 1, 6}}, {.kind = Kind::both}, *test::engine_named(name));
      for (Index i = 0; i < 5; ++i) {
        double variance = 0;
        for (Index j = 0; j < 6; ++j) variance += 2 * x(i, j) * x(i, j) / 6;
        EXPECT_NEAR(in_double(k.nngp)(i, i) / variance, 1, 1e-14);
        EXPECT_NEAR(in_double(k.ntk)(i, i) / variance, hidden + 1, 1e-14 * (hidden + 1));
      }
    }
  }
}

/// A scale is an untrained weight: it multiplies both kernels of the preceding layers by its square.
TEST_P(GramOf, ScaleMultipliesBySquare) {
  const Matrix<double> x = normal_rows(4, 5, 14);
  const SampleView view(x.view(), {1, 1, 5});
  const Gram plain = gram(Network::parse("dense relu dense"), view, {.kind = Kind::both}, *engine);
  const Gram scaled = gram(Network::parse("dense relu dense scale(by=-3)"), view, {.kind = Kind::both}, *engine);
  for (Index k = 0; k < 16; ++k) {
    EXPECT_NEAR(in_double(scaled.nngp).data()[k], 9 * in_double(plain.nngp).data()[k], 1e-14);
    EXPECT_NEAR(in_double(scaled.ntk).data()[k], 9 * in_double(plain.ntk).data()[k], 1e-14);
  }
}

TEST(Gram, OneThreadIsManyThreadsBitForBit) {
  const auto one = make_engine("cpu", {.threads = 1});
  for (const int threads : WIDELIMIT_SANITIZED != 0 ? std::vector<int>{5} : std::vector<int>{2, 5}) {
    const auto many = make_engine("cpu", {.threads = threads});
    for (const Case& c : cases()) {
      const Matrix<double> x = normal_rows(c.shape.is_vector() ? 700 : 9, c.shape.size(), 9);
      for (const Precision precision : {Precision::f64, Precision::f32}) {
        const GramOptions options{.kind = Kind::both, .precision = precision};
        const Gram a = gram(c.network, {x.view(), c.shape}, options, *one);
        const Gram b = gram(c.network, {x.view(), c.shape}, options, *many);
        std::visit(
            [&](const auto& left) {
              const auto& right = std::get<std::decay_t<decltype(left)>>(b.ntk);
              EXPECT_TRUE(std::equal(left.data(), left.data() + left.rows() * left.cols(), right.data()));
            },
            a.ntk);
      }
    }
  }
}

TEST_P(GramOf, LayersSumToTheWhole) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.network.to_text());
    const Matrix<double> x = normal_rows(5, c.shape.size(), 10);
    const SampleView view(x.view(), c.shape);
    const Gram whole = gram(c.network, view, {}, *engine);
    const LayerContributions parts = layer_contributions(c.network, view, {}, *engine);
    ASSERT_EQ(parts.layers.size(), parts.ntk.size());
    for (Index k = 0; k < 25; ++k) {
      double sum = 0;
      for (const AnyMatrix& part : parts.ntk) sum += in_double(part).data()[k];
      EXPECT_NEAR(sum, in_double(whole.ntk).data()[k], 1e-12 * (1 + std::abs(sum)));
    }
  }
}

TEST(Gram, DiagonalAloneIsTheDiagonal) {
  for (const std::string& name : test::engines_and_cuda({"cpu", "reference", "emulated"})) {
    const auto engine = test::engine_named(name);
    for (const Case& c : cases()) {
      if (name == "reference" && exactness(c.network) == Exactness::quadrature) continue;
      const Matrix<double> x = normal_rows(4, c.shape.size(), 11);
      const SampleView view(x.view(), c.shape);
      const Gram k = gram(c.network, view, {.kind = Kind::both}, *engine);
      const Matrix<double> d = diagonal(c.network, view, *engine).values;
      for (Index i = 0; i < 4; ++i) {
        EXPECT_EQ(d(0, i), in_double(k.nngp)(i, i));
        EXPECT_EQ(d(1, i), in_double(k.ntk)(i, i));
      }
    }
  }
}

TEST(Gram, RefusesWhatItCannotUse) {
  const auto engine = make_engine("cpu");
  const Network network = Network::parse("fc:1");
  Matrix<double> x = normal_rows(3, 4, 12);
  const auto code = [&](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return Code::usage;
  };
  EXPECT_EQ(code([&] { return gram(network, {x.view(), {1, 1, 5}}, {}, *engine); }), Code::input);
  const Matrix<double> other = normal_rows(2, 3, 13);
  EXPECT_EQ(code([&] {
              return gram(network, {x.view(), {1, 1, 4}}, {other.view(), {1, 1, 3}}, {}, *engine);
            }),
            Code::input);
  x(1, 2) = std::nan("");
  EXPECT_EQ(code([&] { return gram(network, {x.view(), {1, 1, 4}}, {}, *engine); }), Code::input);
  x(1, 2) = HUGE_VAL;
  EXPECT_EQ(code([&] { return gram(network, {x.view(), {1, 1, 4}}, {}, *engine); }), Code::input);
}

}  // namespace
}  // namespace widelimit
