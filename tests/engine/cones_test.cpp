#include "widelimit/engine/cones.hpp"

#include "tests/engine/engines.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/entry_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace widelimit {
namespace {

constexpr double unit = 0x1p-53;

struct ExactKappa {
  long double value = 0, slope = 0;
};

/// sin θ − θ cos θ, by its series if the difference cancels.
long double bend_of(long double angle) {
  if (angle > 0.5L) return std::sin(angle) - angle * std::cos(angle);
  long double sum = 0, power = angle, factorial = 1;
  for (int k = 1; k < 14; ++k) {
    power *= angle * angle;
    factorial *= 2.0L * k * (2.0L * k + 1);
    sum += (k % 2 == 1 ? 1 : -1) * 2.0L * k * power / factorial;
  }
  return sum;
}

/// κ and κ' from the recursion in long double, with 1 − |ρ| stored beside ρ.    [docs/theory/certificates.md, eq. 2]
ExactKappa exact_kappa(const host::ConeChain& chain, double u) {
  const long double pi = std::numbers::pi_v<long double>;
  long double rho = u, t = 1 - std::abs(rho), rho_slope = 1, theta = chain.trained * rho, theta_slope = chain.trained;
  for (const host::ConeLayer& layer : chain.layers) {
    const long double angle = 2 * std::asin(std::sqrt(t / 2)), bend = layer.bend * bend_of(angle) / pi;
    const long double root = std::sqrt(t * (2 - t));
    const long double factor = layer.linear + layer.bend * (rho >= 0 ? 1 - angle / pi : angle / pi);
    const long double factor_slope = root > 0 ? layer.bend / (pi * root) * rho_slope : 0;
    const bool positive = rho >= 0;
    rho = positive ? rho + bend : -layer.linear * (1 - t) + bend;
    t = positive ? t - bend : 1 - std::abs(rho);
    rho_slope *= factor;
    theta_slope = theta_slope * factor + theta * factor_slope + layer.trained * rho_slope;
    theta = theta * factor + layer.trained * rho;
  }
  return chain.tangent ? ExactKappa{theta, theta_slope} : ExactKappa{rho, rho_slope};
}

/// Values across [−1, 1] and close to special points.
std::vector<double> cosines() {
  std::vector<double> u{-1, 1, 0, -0.0};
  const Random random(3);
  for (std::uint64_t k = 0; k < 300; ++k) u.push_back(2 * random.uniform(k) - 1);
  for (int e = 2; e < 53; ++e) {
    for (const double sign : {-1.0, 1.0}) {
      u.push_back(sign * (1 - std::ldexp(1.0, -e)));
      u.push_back(sign * std::ldexp(1.0, -e));
    }
  }
  return u;
}

class ConesOf : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Engine> engine_ = test::engine_named(GetParam());
  const Cones& cones_ = *cones_of(*engine_);

  [[nodiscard]] EngineMatrix row(const std::vector<double>& values) const {
    return matrix(values, 1, std::ssize(values));
  }
  [[nodiscard]] EngineMatrix matrix(const std::vector<double>& values, Index rows, Index cols) const {
    return engine_->algebra().hold(MatrixView<const double>{values.data(), rows, cols, cols});
  }
};

constexpr const char* networks[] = {"eq2", "fc:4", "dense leaky_relu(slope=0.1) dense leaky_relu(slope=0.9) dense",
                                    "dense"};

/// The lemma of docs/theory/certificates-proof.md#other-processors: κ and κ' satisfy the error bounds of ConeKernel.
TEST_P(ConesOf, KappaIsAsPreciseAsProved) {
  const std::vector<double> u = cosines(), ones(u.size(), 1.0);
  const std::vector<Index> which(u.size(), 0);
  for (const char* network : networks) {
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      const ConeKernel kernel(Network::parse(network), kind, {1, 1, 3});
      EngineMatrix inner = matrix(u, std::ssize(u), 1);
      std::vector<double> value(u.size()), along(u.size()), slope(u.size());
      cones_.slopes(kernel.chain(), 1, row({1}), which, ones, inner, value.data(), along.data());
      engine_->algebra().read(inner, MatrixView<double>{slope.data(), std::ssize(u), 1, 1});
      for (std::size_t k = 0; k < u.size(); ++k) {
        const ExactKappa exact = exact_kappa(kernel.chain(), u[k]);
        EXPECT_LE(std::abs(value[k] - exact.value), kernel.value_error()) << network << " at " << u[k];
        if (std::abs(u[k]) == 1) continue;
        const double slope_error = kernel.slope_error() * (1 + 1 / std::sqrt(1 - std::abs(u[k])));
        EXPECT_LE(std::abs(slope[k] - exact.slope), slope_error) << network << " at " << u[k];
        EXPECT_NEAR(along[k], value[k] - u[k] * slope[k], 4 * unit * (std::abs(value[k]) + std::abs(slope[k])));
      }
    }
  }
}

/// Products that underflow keep their subnormal values.
TEST_P(ConesOf, SmallNumbersAreNotFlushed) {
  const ConeKernel kernel(Network::parse("eq2"), Kind::ntk, {1, 1, 3});
  EngineMatrix inner = row({1.0});
  double value = 0, along = 0;
  const std::vector<Index> which{0};
  const std::vector<double> norms{1};
  cones_.slopes(kernel.chain(), 1, row({0x1p-1060}), which, norms, inner, &value, &along);
  EXPECT_EQ(value, 0x1p-1060 * kernel.largest());
}

/// Bounds of entries equal those of the host up to rounding, on both sides and for both rules.
TEST_P(ConesOf, BoundsOfEntriesAreThoseOfTheHost) {
  const Random random(5);
  for (const char* network : networks) {
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      const ConeKernel kernel(Network::parse(network), kind, {1, 1, 3});
      const IntervalEntryBounds interval(kernel);
      const PaperEntryBounds paper(kernel);
      EntryScratch scratch;
      scratch.resize(usize(EntryBounds::longest));
      std::vector<ConeBall> balls;
      std::vector<double> inner;
      for (std::uint64_t trial = 0; trial < 300; ++trial) {
        const double reach = trial % 3 == 0 ? 0.01 : 1;
        ConeBall ball{.point = static_cast<Index>(trial), .radius = reach * random.uniform(4 * trial)};
        ball.inner = trial % 7 == 0 ? 0 : 2 * random.uniform(4 * trial + 1);
        ball.outer = ball.inner + reach * random.uniform(4 * trial + 2);
        inner.push_back((2 * random.uniform(4 * trial + 3) - 1) * ball.outer);
        balls.push_back(ball);
      }
      const Index count = std::ssize(balls);
      const ConeRanges ranges{.inner = matrix(inner, count, 1), .spread = {}, .middle = {}, .reach = {}};
      std::vector<ConeSum> requests;
      for (Index b = 0; b < count; ++b)
        requests.insert(requests.end(), {{.ball = b, .weights = 0}, {.ball = b, .weights = 1}});
      for (const ConeRule rule : {ConeRule::paper, ConeRule::interval}) {
        const EntryBounds& sides = rule == ConeRule::paper ? static_cast<const EntryBounds&>(paper) : interval;
        std::vector<double> sums(requests.size());
        cones_.bound_sums(kernel.profile(), rule, ranges, balls, matrix({1, -1}, 2, 1), requests, sums.data());
        for (std::size_t b = 0; b < balls.size(); ++b) {
          const double low = std::max(inner[b] - balls[b].radius, -balls[b].outer);
          const double high = std::min(inner[b] + balls[b].radius, balls[b].outer);
          const RangeStrip strip{{balls[b].inner, balls[b].outer}, 1, &low, &high};
          double least = 0, most = 0;
          sides.low(strip, scratch, &least);
          sides.high(strip, scratch, &most);
          // Where κ' is infinite, a rounding u becomes √u in κ, on either side of the proved bound.
          const double rounding = balls[b].outer * 1e-13 * kernel.largest();
          EXPECT_NEAR(sums[2 * b], least, rounding) << network << " " << low << " " << high << " " << balls[b].inner;
          EXPECT_NEAR(-sums[2 * b + 1], most, rounding)
              << network << " " << low << " " << high << " " << balls[b].inner;
        }
      }
    }
  }
}

/// The error of a sum is consistent with the stated number of additions, compared with long double.
TEST_P(ConesOf, SumsAreDeterministicAndAsPreciseAsProved) {
  const ConeKernel kernel(Network::parse("fc:2"), Kind::ntk, {1, 1, 3});
  const Random random(8);
  for (const Index support : {0, 1, 37, 256, 257, 3001}) {
    std::vector<double> inner(usize(support)), weights(usize(support));
    random.normals(0, support, 0.5, inner.data());
    Random(9).normals(0, support, 1, weights.data());
    if (support > 2) weights[2] = 0;
    const std::vector<ConeBall> balls{{.point = 0, .radius = 0.01, .error = 0, .inner = 1.9, .outer = 2.1}};
    const std::vector<ConeSum> requests(3, ConeSum{});
    std::vector<double> spread(usize(support), 1.5), sums(3);
    const ConeRanges ranges{.inner = row(inner), .spread = row(spread), .middle = {}, .reach = {}};
    cones_.bound_sums(kernel.profile(), ConeRule::interval, ranges, balls, row(weights), requests, sums.data());
    long double exact = 0, moduli = 0;
    for (Index i = 0; i < support; ++i) {
      if (weights[usize(i)] == 0) continue;
      const double one = inner[usize(i)], sign = weights[usize(i)] > 0 ? 1 : -1;
      double term = 0;
      const std::vector<ConeSum> single(1, ConeSum{});
      const ConeRanges alone{.inner = row({one}), .spread = row({1.5}), .middle = {}, .reach = {}};
      cones_.bound_sums(kernel.profile(), ConeRule::interval, alone, balls, row({sign}), single, &term);
      exact += static_cast<long double>(std::abs(weights[usize(i)])) * term;
      moduli += std::abs(static_cast<long double>(weights[usize(i)]) * term);
    }
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(sums[0], sums[2]);
    EXPECT_LE(std::abs(sums[0] - exact), (cones_.additions(support) + 1) * unit * moduli) << support;
  }
}

/// Compares entries, residuals and squares with their definitions.
TEST_P(ConesOf, EntriesResidualsAndSquaresAreTheirDefinitions) {
  for (const Index support : {1, 37}) {
    for (const Index features : {1, 7, 65}) {
      std::vector<double> x(usize(support * features)), c(usize(features)), half(usize(features));
      Random(1).normals(0, support * features, 1, x.data());
      Random(2).normals(0, features, 1, c.data());
      double norm = 0;
      for (const double v : c) norm += v * v;
      norm = std::sqrt(norm);
      std::vector<double> direction(usize(features)), t(usize(support)), w(usize(support));
      for (std::size_t j = 0; j < c.size(); ++j)
        direction[j] = c[j] / norm, half[j] = 0.1 + 0.01 * static_cast<double>(j);
      Random(4).normals(0, support, 1, t.data());
      Random(5).normals(0, support, 1, w.data());
      const EngineMatrix rows = matrix(x, support, features);
      const host::ResidualFrame frame{
          .size = features, .centre = c.data(), .unit = direction.data(), .half = half.data(), .norm = norm};
      for (const bool euclidean : {false, true}) {
        std::vector<double> inner(usize(support)), reach(usize(support));
        cones_.residuals(rows, frame, euclidean, inner.data(), reach.data());
        for (Index i = 0; i < support; ++i) {
          const host::Residual expected = host::residual_of(frame, x.data() + i * features, euclidean);
          const double size = 1e-14 * static_cast<double>(features);
          EXPECT_NEAR(inner[usize(i)], expected.inner, size * norm * 3);
          EXPECT_NEAR(reach[usize(i)], expected.reach, size * (1 + expected.reach));
        }
      }
      constexpr double last = 0.7;
      Matrix<double> b(features + 1, features + 1);
      cones_.squares(rows, frame, t, w, last, b.view());
      const auto entry = [&](Index i, Index j) -> long double {
        if (j == features) return -static_cast<long double>(last) * t[usize(i)];
        return half[usize(j)] * (static_cast<long double>(x[usize(i * features + j)]) -
                                 static_cast<long double>(t[usize(i)]) * direction[usize(j)]);
      };
      for (Index j = 0; j <= features; ++j) {
        for (Index k = 0; k <= features; ++k) {
          long double sum = 0, moduli = 0;
          for (Index i = 0; i < support; ++i) {
            const long double term = w[usize(i)] * entry(i, j) * entry(i, k);
            sum += term;
            moduli += std::abs(term);
          }
          EXPECT_LE(std::abs(b(j, k) - sum), static_cast<double>(support + 8) * unit * moduli);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ConesOf, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

/// The cpu and reference engines have none.
TEST(Cones, AreThoseOfEnginesWithAMemoryOfTheirOwn) {
  EXPECT_EQ(cones_of(*make_engine("cpu")), nullptr);
  EXPECT_EQ(cones_of(*make_engine("reference")), nullptr);
  EXPECT_NE(cones_of(*test::engine_named("emulated")), nullptr);
}

}  // namespace
}  // namespace widelimit
