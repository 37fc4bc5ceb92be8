#include "widelimit/certificate/chain/chain.hpp"

#include "cone_machine.hpp"
#include "widelimit/certificate/convex/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

constexpr Index features = 3;

/// Two inputs given by ‖x‖, ‖x'‖ and their cosine in the input space of the first layer.
struct PlacedPair {
  double norm, other, rho;
};

EnclosedEntry enclose_entry(const Chain& chain, Kind kind, const LiftedPair& pair, bool sloped) {
  return widelimit::enclose_entry(ChainSteps(chain, kind).view(), pair, sloped);
}

LiftedPair lifted(const Chain& chain, const PlacedPair& pair) {
  const Interval lift = lifted_coordinate(chain);
  const auto of = [&](double n) { return sqrt(Interval::of(n) * Interval::of(n) + lift * lift); };
  return {of(pair.norm), of(pair.other), Interval::of(pair.rho)};
}

/// Returns ⟨x,x'⟩ of such a pair.
double inner_of(const Chain& chain, const PlacedPair& pair) {
  const LiftedPair both = lifted(chain, pair);
  const double lift = lifted_coordinate(chain).low;
  return both.norm.low * both.other.low * pair.rho - lift * lift;
}

PlacedPair random_pair(std::uint64_t seed) {
  const Random random(seed);
  return {1 + random.uniform(0), 1 + random.uniform(1), 1.6 * random.uniform(2) - 0.8};
}

std::vector<const char*> chains() {
  return {
      "fc:2",
      "dense(b_std=0.3) relu dense(b_std=0.5)",
      "fc:3(b_std=0.2)",
      "dense(b_std=0.3) relu dense(b_std=0.5, frozen=true) relu dense",
      "dense(b_std=0.4, frozen=true) relu dense(b_std=0.5) relu dense(frozen=true)",
      "dense(w_std=1.4,b_std=0.1) leaky_relu(slope=0.4) dense(b_std=1) relu scale(by=2) dense(b_std=0.7) relu dense"};
}

/// Calls `call` for every chain, kind and a set of pairs.
template <typename Call>
void for_all(const Call& call) {
  for (const char* text : chains()) {
    const Chain chain = read_chain(Network::parse(text), {1, 1, features});
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      for (std::uint64_t seed = 1; seed < 9; ++seed) {
        SCOPED_TRACE(fmt::format("{}, seed {}", text, seed));
        call(chain, kind, random_pair(seed));
      }
    }
  }
}

TEST(ChainEnclosure, HoldsTheKernelAndIsTightAtAPoint) {
  for_all([](const Chain& chain, Kind kind, const PlacedPair& pair) {
    const EnclosedEntry entry = enclose_entry(chain, kind, lifted(chain, pair), false);
    const Interval theta = entry.scale.in_units_of(0) * entry.other.in_units_of(0) * entry.value;
    const std::vector<double> norms{pair.other};
    const double inner = inner_of(chain, pair);
    EntrySlopes slopes(1);
    chain_entries(chain, kind, norms)(pair.norm, &inner, slopes);
    const double rounding = 1e-14 * (1 + std::abs(slopes.value[0]));
    EXPECT_LE(theta.low, slopes.value[0] + rounding);
    EXPECT_GE(theta.high, slopes.value[0] - rounding);
    EXPECT_LT(theta.width(), 1e-13 * (1 + std::abs(theta.low)));
  });
}

TEST(ChainEnclosure, HasTheSlopesOfItsValues) {
  for_all([](const Chain& chain, Kind kind, const PlacedPair& pair) {
    const LiftedPair here = lifted(chain, pair);
    const EnclosedEntry entry = enclose_entry(chain, kind, here, true);
    ASSERT_TRUE(entry.sloped);
    EXPECT_LT(entry.by_rho.width() + entry.by_norm.width(), 1e-12);
    constexpr double h = 1e-5;
    const auto value = [&](double stretch, double turn) {
      const LiftedPair there{Interval::of(here.norm.low * std::exp(stretch)), here.other,
                             Interval::of(pair.rho + turn)};
      return enclose_entry(chain, kind, there, false).value.low;
    };
    EXPECT_NEAR(entry.by_rho.low, (value(0, h) - value(0, -h)) / (2 * h), 1e-8);
    EXPECT_NEAR(entry.by_norm.low, (value(h, 0) - value(-h, 0)) / (2 * h), 1e-8);
  });
}

TEST(ChainEnclosure, HoldsValuesAndSlopesOfItsWholeRange) {
  for_all([](const Chain& chain, Kind kind, const PlacedPair& pair) {
    const LiftedPair here = lifted(chain, pair);
    const LiftedPair range{{0.8 * here.norm.low, 1.3 * here.norm.high}, here.other, {pair.rho - 0.1, pair.rho + 0.1}};
    const EnclosedEntry entry = enclose_entry(chain, kind, range, true);
    ASSERT_TRUE(entry.sloped);
    EXPECT_EQ(entry.value.low, enclose_entry(chain, kind, range, false).value.low);
    const Random random(7);
    for (std::uint64_t place = 0; place < 32; ++place) {
      const LiftedPair there{Interval::of(range.norm.low + random.uniform(2 * place) * range.norm.width()), range.other,
                             Interval::of(range.rho.low + random.uniform(2 * place + 1) * range.rho.width())};
      const EnclosedEntry inside = enclose_entry(chain, kind, there, true);
      for (const auto& [part, whole] :
           {std::pair(inside.scale.in_units_of(0), entry.scale.in_units_of(0)), std::pair(inside.value, entry.value),
            std::pair(inside.by_rho, entry.by_rho), std::pair(inside.by_norm, entry.by_norm)}) {
        EXPECT_GE(part.high, whole.low);
        EXPECT_LE(part.low, whole.high);
      }
    }
  });
}

TEST(ChainEnclosure, HasNoSlopesWhereSamplesMayBeParallel) {
  const Chain chain = read_chain(Network::parse("fc:2(b_std=0.5)"), {1, 1, features});
  EXPECT_FALSE(enclose_entry(chain, Kind::ntk, {{1, 1}, {2, 2}, {0.9, 1}}, true).sloped);
  EXPECT_TRUE(enclose_entry(chain, Kind::ntk, {{1, 1}, {2, 2}, {0.9, 0.99}}, true).sloped);
}

}  // namespace
}  // namespace widelimit
