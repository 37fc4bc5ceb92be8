#include "tests/base/normal_rows.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/chain/chain_bound.hpp"
#include "widelimit/certificate/convex/gradient.hpp"
#include "widelimit/certificate/convex/lifted_ball.hpp"

#include "cone_machine.hpp"
#include "tests/engine/engines.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

constexpr const char* networks[] = {"fc:2(b_std=0.1)", "dense(b_std=0.3) relu dense(b_std=0.2, frozen=true) relu dense",
                                    "fc:3(frozen=3)",
                                    "dense(w_std=1.4, b_std=0.1) leaky_relu(slope=0.4) dense(b_std=1) relu dense"};

/// A support and points on an engine, enclosed layer by layer.
struct Enclosed {
  Enclosed(const char* network, Kind kernel, Norm norm, Index supports, const Engine& engine)
      : kind(kernel),
        chain(read_chain(Network::parse(network), {1, 1, features})),
        options{.norm = norm},
        support(normal_rows(supports, features, 5)),
        x(normal_rows(points, features, 6)),
        alpha(normal_rows(supports, 1, 7)) {
    if (supports > 3) std::fill_n(support.view().row(3), features, 0.0);
    geometry.emplace(support.view(), options, engine);
    placed.emplace(*geometry, x.view(), engine);
    problem.emplace(
        ChainProblem{chain, kind, support.view(), alpha.view(), bias, x.view(), functionals, options, engine, *placed});
    ranges.emplace(*placed, x.view(), options);
    sums.emplace(*problem);
    lifted.emplace(*problem, *ranges, sums->deviations());
    for (Index k = 0; k < points; ++k) balls.push_back(lifted->lift({.point = k, .radius = 0.05}));
  }
  [[nodiscard]] HeldBalls held() const { return {*lifted, options.norm == Norm::l2, balls}; }

  static constexpr Index features = 4, points = 3;
  Kind kind;
  Chain chain;
  CertifyOptions options;
  Matrix<double> support, x, alpha;
  std::vector<double> bias{0.0};
  std::vector<Functional> functionals{{.point = 0, .plus = 0, .minus = -1}};
  std::optional<SupportGeometry> geometry;
  std::optional<PointGeometry> placed;
  std::optional<ChainProblem> problem;
  std::optional<Ranges> ranges;
  std::optional<ChainFunctionals> sums;
  std::optional<LiftedSupport> lifted;
  std::vector<LiftedBall> balls;
};

class HeldChainOn : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Engine> engine_ = test::engine_named(GetParam());
  std::unique_ptr<Engine> cpu_ = make_engine("cpu", {.threads = 1});

  template <typename Call>
  void for_all(const Call& call) const {
    for (const char* network : networks) {
      for (const Kind kind : {Kind::ntk, Kind::nngp}) {
        for (const Norm norm : {Norm::linf, Norm::l2}) {
          for (const Index supports : {1, 37, 300}) {
            SCOPED_TRACE(fmt::format("{} {} {}", network, to_string(norm), supports));
            call(Enclosed(network, kind, norm, supports, *engine_));
          }
        }
      }
    }
  }
};

/// Returns x of a ball, at its corners or inside.
std::vector<double> place_in(const Enclosed& e, Index point, std::uint64_t trial) {
  const Random random(trial);
  std::vector<double> x;
  const double reach = 0.0499 / (e.options.norm == Norm::l2 ? std::sqrt(static_cast<double>(Enclosed::features)) : 1);
  for (Index j = 0; j < Enclosed::features; ++j) {
    const double z = 2 * random.uniform(static_cast<std::uint64_t>(j)) - 1;
    x.push_back(e.x(point, j) + reach * (trial % 2 == 0 ? z : std::copysign(1.0, z)));
  }
  return x;
}

/// Σ wᵢΘ(x, xᵢ) equals the enclosed value times √q of the point, for any x in the ball; results are reproducible and as
/// tight as on the host.
TEST_P(HeldChainOn, SumsHoldTheExactOnes) {
  for_all([&](const Enclosed& e) {
    const Cones& cones = *cones_of(*engine_);
    const Index supports = e.support.rows();
    Matrix<double> weights(2, supports);
    Random(8).normals(0, 2 * supports, 1, weights.data());
    if (supports > 2) weights(0, 2) = 0;
    std::vector<ConeSum> requests;
    for (Index b = 0; b < Enclosed::points; ++b) requests.insert(requests.end(), {{b, 0}, {b, 1}, {b, 0}});
    std::vector<Interval> sums(requests.size());
    const EngineMatrix held = engine_->algebra().hold(MatrixView<const double>(weights.view()));
    cones.enclose_sums(e.held().view(), held, requests, sums.data());
    for (std::size_t q = 0; q < requests.size(); ++q) {
      const LiftedBall& ball = e.balls[usize(requests[q].ball)];
      const Interval scale = e.lifted->deviation(ball.range.norm, 0);
      const std::vector<SampleCosine> cosines = e.lifted->cosines(ball);
      Interval host = Interval::of(0);
      long double moduli = 0;
      for (Index i = 0; i < supports; ++i) {
        const Interval entry =
            enclose_on_ball(e.lifted->chain(), ball.range, e.lifted->samples()[usize(i)], cosines[usize(i)]);
        const double w = weights(requests[q].weights, i);
        if (w != 0) host = host + enclosed_weight(w) * entry;
        moduli += std::abs(w) * entry.modulus();
      }
      const double rounding = 1e-12 * static_cast<double>(moduli);
      EXPECT_NEAR(sums[q].low, host.low, rounding);
      EXPECT_NEAR(sums[q].high, host.high, rounding);
      const Interval whole = scale * sums[q];
      for (std::uint64_t trial = 0; trial < 6; ++trial) {
        const std::vector<double> x = place_in(e, requests[q].ball, trial);
        long double exact = 0;
        for (Index i = 0; i < supports; ++i) {
          exact +=
              weights(requests[q].weights, i) * test::exact_entry(e.chain, e.kind, x.data(), e.support.view().row(i));
        }
        EXPECT_LE(whole.low, exact);
        EXPECT_GE(whole.high, exact);
      }
    }
    EXPECT_EQ(sums[0].low, sums[2].low);
    EXPECT_EQ(sums[0].high, sums[2].high);
  });
}

/// Enclosed changes of entries contain the entries at every x of the ball, with Δ relative to the centre.
TEST_P(HeldChainOn, ChangesHoldTheEntriesOfTheWholeBall) {
  int sloped = 0;
  for_all([&](const Enclosed& e) {
    const Index supports = e.support.rows();
    std::vector<EntryChange> changes(usize(Enclosed::points * supports));
    cones_of(*engine_)->enclose_changes(e.held().view(), e.lifted->biased_later(), changes.data());
    for (Index place = 0; place < Enclosed::points * supports; ++place) {
      const EntryChange& change = changes[usize(place)];
      const Index b = place / supports, i = place % supports;
      const LiftedBall& ball = e.balls[usize(b)];
      sloped += change.sloped != 0 ? 1 : 0;
      for (std::uint64_t trial = 0; trial < 3; ++trial) {
        const std::vector<double> x = place_in(e, b, trial);
        const Interval lift = lifted_coordinate(e.chain);
        Interval square = lift * lift, product = square;
        for (Index j = 0; j < Enclosed::features; ++j) {
          const Interval value = Interval::of(x[usize(j)]);
          square = square + value * value;
          product = product + value * Interval::of(e.support(i, j));
        }
        const Interval norm = sqrt(square), other = e.lifted->samples()[usize(i)].norm;
        if (!(other.low > 0)) continue;
        const Interval rho = clamp(product / (norm * other), -1, 1), turn = rho - change.cosine;
        const Interval value = enclose_entry(e.lifted->chain(), {norm, other, rho}, false).value;
        EXPECT_LE(change.anywhere.low, value.high);
        EXPECT_GE(change.anywhere.high, value.low);
        if (change.sloped == 0) continue;
        const Interval stretch = outward(std::log(norm.low / ball.range.start.high) - 1e-15,
                                         std::log(norm.high / ball.range.start.low) + 1e-15);
        const Interval claimed =
            change.start + (change.slope + change.curvature * turn) * turn + change.by_norm * stretch;
        EXPECT_LE(claimed.low, value.high);
        EXPECT_GE(claimed.high, value.low);
        EXPECT_LE((norm * turn).low, change.reach);
        EXPECT_GE((norm * turn).high, -change.reach);
      }
    }
  });
  EXPECT_GT(sloped, 1000);
}

/// The error of the polynomials for κ₀ and κ₁ is below their slack.
TEST(Kappa, IsAsPreciseAsProved) {
  const long double pi = std::numbers::pi_v<long double>;
  std::vector<double> places{-1, 1, 0, -0.0};
  for (std::uint64_t k = 0; k < 2000; ++k) places.push_back(2 * Random(3).uniform(k) - 1);
  for (int e = 2; e < 53; ++e) {
    for (const double sign : {-1.0, 1.0}) {
      places.push_back(sign * (1 - std::ldexp(1.0, -e)));
      places.push_back(sign * std::ldexp(1.0, -e));
    }
  }
  for (const double rho : places) {
    const long double opening = std::acos(-static_cast<long double>(rho));
    const long double root = std::sqrt((1 - static_cast<long double>(rho)) * (1 + static_cast<long double>(rho)));
    EXPECT_LT(std::abs(kappa0_at(rho) - opening / pi), kappa_slack / 2) << rho;
    EXPECT_LT(std::abs(kappa1_at(rho) - (root + opening * rho) / pi), kappa_slack / 2) << rho;
  }
}

/// Slopes of a descent equal those of the host.
TEST_P(HeldChainOn, SlopesAreThoseOfTheHost) {
  for_all([&](const Enclosed& e) {
    const Index supports = e.support.rows();
    const auto weights = [&](const Functional& f) { return functional_weights(e.alpha.view(), e.bias, f); };
    const HeldGradient held(*e.geometry->held, e.functionals, weights,
                            chain_slopes(e.chain, e.kind, e.geometry->norms));
    const FunctionalGradient host(e.support.view(), e.functionals, weights,
                                  chain_entries(e.chain, e.kind, e.geometry->norms));
    const std::vector<Index> which(usize(Enclosed::points), 0);
    std::vector<double> here(which.size()), there(which.size());
    Matrix<double> slopes(Enclosed::points, Enclosed::features), expected(Enclosed::points, Enclosed::features);
    held.evaluate(e.x.view(), which, here.data(), slopes.view());
    host.evaluate(e.x.view(), which, there.data(), expected.view());
    const double rounding = 1e-11 * static_cast<double>(supports);
    for (Index k = 0; k < Enclosed::points; ++k) {
      EXPECT_NEAR(here[usize(k)], there[usize(k)], rounding);
      for (Index j = 0; j < Enclosed::features; ++j) EXPECT_NEAR(slopes(k, j), expected(k, j), rounding);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Engines, HeldChainOn, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace widelimit
