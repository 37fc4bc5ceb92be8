#include "widelimit/certificate/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

Certificates five_samples() {
  Certificates c;
  c.correct = {true, false, true, true, true};
  c.radius = {0.1, 0, 0.3, 0.2, 0.4};
  c.attack = {0.2, 0, 0.3, never, 0.8};
  return c;
}

TEST(CertificateStatistics, LeaveOutWhatIsMisclassified) {
  const CertificateStatistics summary = statistics(five_samples());
  EXPECT_EQ(summary.samples, 5);
  EXPECT_EQ(summary.correct, 4);
  EXPECT_DOUBLE_EQ(summary.accuracy(), 0.8);
  EXPECT_DOUBLE_EQ(summary.mean, 0.25);
  EXPECT_DOUBLE_EQ(summary.median, 0.25);
  EXPECT_DOUBLE_EQ(summary.least, 0.1);
  EXPECT_NEAR(summary.deviation, std::sqrt(0.0125), 1e-15);
}

TEST(CertificateStatistics, CompareWithAttacksThatFoundSomething) {
  const CertificateStatistics summary = statistics(five_samples());
  EXPECT_EQ(summary.broken, 3);
  EXPECT_NEAR(summary.attack_mean.value(), 1.3 / 3, 1e-15);
  EXPECT_NEAR(summary.ratio.value(), (0.5 + 1 + 0.5) / 3, 1e-15);
  Certificates quiet = five_samples();
  quiet.attack.clear();
  EXPECT_FALSE(statistics(quiet).ratio.has_value());
  quiet.attack.assign(5, never);
  EXPECT_FALSE(statistics(quiet).attack_mean.has_value());
}

TEST(CertificateStatistics, OfNothing) {
  const CertificateStatistics none = statistics({});
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(none.accuracy(), 0);
  EXPECT_EQ(certified_share({}, 0.1), 0);
  EXPECT_TRUE(round_radii({}, 3).empty());
  Certificates wrong;
  wrong.correct = {false};
  wrong.radius = {0};
  EXPECT_EQ(statistics(wrong).least, 0);
}

TEST(CertificateStatistics, SharesAreOfAllSamples) {
  const Certificates c = five_samples();
  EXPECT_DOUBLE_EQ(certified_share(c, 0.0), 0.8);
  EXPECT_DOUBLE_EQ(certified_share(c, 0.3), 0.4);
  EXPECT_DOUBLE_EQ(certified_share(c, 0.5), 0);
}

TEST(CertificateStatistics, RoundRadiiAreThoseOneTypes) {
  EXPECT_EQ(round_radii(five_samples(), 4), (std::vector<double>{0.02, 0.05, 0.1, 0.2}));
  Certificates large;
  large.radius = {30};
  EXPECT_EQ(round_radii(large, 3), (std::vector<double>{5, 10, 20}));
}

}  // namespace
}  // namespace widelimit
