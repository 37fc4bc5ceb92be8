#include "widelimit/certificate/bracket.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace widelimit {
namespace {

struct Searched {
  double radius;
  Index bounds;
};

Searched search(const std::function<double(double)>& bound, double first, double largest, double tolerance) {
  Bracket bracket(bound(0), first, largest, tolerance);
  Index bounds = 0;
  while (!bracket.done()) {
    bracket.hear(bound(bracket.next()));
    ++bounds;
  }
  return {bracket.certified(), bounds};
}

TEST(Bracket, FindsTheRootOfLinesAndCurvesOfAllScales) {
  for (const double root : {1e-9, 1e-3, 0.7, 1e5}) {
    for (const double tolerance : {1e-2, 1e-6}) {
      const std::function<double(double)> curves[] = {
          [=](double r) { return 3 * (1 - r / root); },
          [=](double r) { return 1 - std::pow(r / root, 4); },
          [=](double r) { return std::exp(-r / root) - std::exp(-1.0); },
          [=](double r) { return r < root ? 1e-3 : -1e9 * r; },
          [=](double r) { return r < root ? 1.0 : -std::numeric_limits<double>::infinity(); },
          [=](double r) { return r < root ? 1.0 : std::nan(""); }};
      for (const auto& curve : curves) {
        const Searched found = search(curve, 1e-3, 1e6, tolerance);
        EXPECT_GT(curve(found.radius), 0);
        EXPECT_GE(found.radius, root * (1 - 2 * tolerance)) << root << " " << tolerance;
        EXPECT_LT(found.bounds, 100);
      }
      EXPECT_LT(search(curves[0], 1e-3, 1e6, tolerance).bounds, 12);
      EXPECT_LT(search(curves[1], 1e-3, 1e6, tolerance).bounds, 30);
    }
  }
}

TEST(Bracket, EndsWhereEverythingOrNothingHolds) {
  EXPECT_EQ(search([](double) { return 1.0; }, 1e-3, 50, 1e-3).radius, 50);
  EXPECT_EQ(search([](double r) { return r == 0 ? 1.0 : -1.0; }, 1e-3, 50, 1e-3).radius, 0);
}

/// A bound that is not monotone: the radius is one that was seen to hold.
TEST(Bracket, CertifiesOnlyWhatItSaw) {
  const auto wave = [](double r) { return 1.2 - r + std::sin(40 * r); };
  EXPECT_GT(wave(search(wave, 1e-3, 1e3, 1e-4).radius), 0);
}

}  // namespace
}  // namespace widelimit
