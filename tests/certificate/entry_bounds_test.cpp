#include "widelimit/certificate/cone/entry_bounds.hpp"
#include "tests/base/normal_rows.hpp"
#include "widelimit/certificate/interval/ranges.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace widelimit {
namespace {

/// Extremes of N·κ(a/N) over a fine mesh of [a]×[N] ∩ {|a| ≤ N} including its corners and edges.
Interval mesh_extremes(const ConeKernel& kernel, double low, double high, const Interval& norm) {
  constexpr int steps = 60;
  Interval found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  std::vector<double> u, n, value;
  for (int i = 0; i <= steps + 2; ++i) {
    double length = norm.low + (norm.high - norm.low) * i / steps;
    if (i > steps) length = std::clamp(std::abs(i == steps + 1 ? low : high), norm.low, norm.high);  // on the cone
    const double left = std::max(low, -length), right = std::min(high, length);
    if (length == 0 && low <= 0 && high >= 0) found = {std::min(found.low, 0.0), std::max(found.high, 0.0)};
    if (left > right || length == 0) continue;
    for (int j = 0; j <= steps; ++j) {
      u.push_back(std::clamp((left + (right - left) * j / steps) / length, -1.0, 1.0));
      n.push_back(length);
    }
  }
  value.resize(u.size());
  kernel.evaluate(std::ssize(u), {.u = u.data(), .value = value.data()});
  for (std::size_t k = 0; k < u.size(); ++k) {
    found = {std::min(found.low, n[k] * value[k]), std::max(found.high, n[k] * value[k])};
  }
  return found;
}

class EntryBoundsOf : public testing::TestWithParam<const char*> {};

TEST_P(EntryBoundsOf, HoldAllValuesAndIntervalNoMore) {
  const Random random(5);
  for (const Kind kind : {Kind::ntk, Kind::nngp}) {
    const ConeKernel kernel(Network::parse(GetParam()), kind, {1, 1, 3});
    const IntervalEntryBounds interval(kernel);
    const PaperEntryBounds paper(kernel);
    EntryScratch scratch;
    scratch.resize(static_cast<std::size_t>(EntryBounds::longest));
    for (std::uint64_t trial = 0; trial < 150; ++trial) {
      const double reach = trial % 3 == 0 ? 0.01 : 1;
      Interval norm{2 * random.uniform(4 * trial), 0};
      norm.high = norm.low + reach * random.uniform(4 * trial + 1);
      if (trial % 7 == 0) norm.low = 0;
      const double middle = (2 * random.uniform(4 * trial + 2) - 1) * norm.high;
      const double half = reach * random.uniform(4 * trial + 3);
      const double low = std::max(middle - half, -norm.high), high = std::min(middle + half, norm.high);
      const RangeStrip strip{norm, 1, &low, &high};
      double least = 0, most = 0, paper_least = 0, paper_most = 0;
      interval.low(strip, scratch, &least);
      interval.high(strip, scratch, &most);
      paper.low(strip, scratch, &paper_least);
      paper.high(strip, scratch, &paper_most);
      const Interval exact = mesh_extremes(kernel, low, high, norm);
      const double rounding = norm.high * (kernel.value_error() + 16 * 0x1p-53 * kernel.largest());
      EXPECT_LE(least, exact.low + rounding) << low << " " << high << " " << norm.low << " " << norm.high;
      EXPECT_GE(most, exact.high - rounding) << low << " " << high << " " << norm.low << " " << norm.high;
      EXPECT_LE(paper_least, least + rounding);
      EXPECT_GE(paper_most, most - rounding);
      for (const EntryBounds* sides :
           {static_cast<const EntryBounds*>(&interval), static_cast<const EntryBounds*>(&paper)}) {
        for (const double weight : {2.0, -0.5}) {
          double bound = 0, side = 0;
          sides->bound({norm, 1, &low, &high, &weight}, scratch, &bound);
          weight > 0 ? sides->low(strip, scratch, &side) : sides->high(strip, scratch, &side);
          EXPECT_EQ(bound, side);
        }
      }
      // The mesh contains all corners; only a minimum between them can be missed, with an error quadratic in the cell
      // size.
      EXPECT_NEAR(most, exact.high, 1e-7 * kernel.largest());  // the square root of the perturbation of u
      if (norm.low > 0) {
        EXPECT_NEAR(least, exact.low, (reach < 1 ? 1e-4 : 1e-2) * kernel.largest());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, EntryBoundsOf,
                         testing::Values("eq2", "fc:4", "dense relu dense(frozen=true)",
                                         "dense leaky_relu(slope=0.3) dense",
                                         "dense leaky_relu(slope=0.1) dense leaky_relu(slope=0.9) dense", "dense"));

TEST(Ranges, HoldEveryPlaceOfBallAndBox) {
  const Matrix<double> support = normal_rows(9, 4, 3), x = normal_rows(3, 4, 4, 0.5), alpha(9, 1);
  const ConeKernel kernel(Network::parse("eq2"), Kind::ntk, {1, 1, 4});
  const std::vector<Functional> functionals{{.point = 0, .plus = 0}};
  const Random random(6);
  for (const Norm norm : {Norm::linf, Norm::l2}) {
    for (const bool boxed : {false, true}) {
      CertifyOptions options{.norm = norm};
      if (boxed) options.box = Box{-1.5, 1.5};
      const std::vector<double> bias{0};
      const CertificateProblem problem{kernel,   support.view(), alpha.view(), bias,
                                       x.view(), functionals,    options,      all_processors()};
      const Ranges ranges(problem);
      const std::vector<Ball> balls{
          {.point = 0, .radius = 0.1}, {.point = 1, .radius = 0.9}, {.point = 2, .radius = 4}};
      Matrix<double> low(3, 9), high(3, 9);
      std::vector<Interval> norms(3);
      ranges.evaluate(balls, low.view(), high.view(), norms);
      std::vector<double> y(4);
      for (std::uint64_t trial = 0; trial < 300; ++trial) {
        const std::size_t b = trial % 3;
        double length = 0;
        for (std::size_t j = 0; j < 4; ++j) {
          y[j] = norm == Norm::linf ? (random.uniform(trial * 8 + j) > 0.5 ? 1.0 : -1.0) : random.normal(trial * 8 + j);
          length = norm == Norm::linf ? 1 : length + y[j] * y[j];
        }
        for (std::size_t j = 0; j < 4; ++j) {
          y[j] = x(balls[b].point, static_cast<Index>(j)) + balls[b].radius * y[j] / std::sqrt(length);
          // Projected onto the box: it remains in the ball.
          if (boxed) y[j] = std::clamp(y[j], -1.5, 1.5);
        }
        const double size = euclidean_norm(y.data(), 4);
        EXPECT_LE(norms[b].low, size * (1 + 1e-15));
        EXPECT_GE(norms[b].high * (1 + 1e-15), size);
        for (Index i = 0; i < 9; ++i) {
          long double inner = 0;
          for (Index j = 0; j < 4; ++j) inner += static_cast<long double>(y[usize(j)]) * support(i, j);
          const auto a = static_cast<double>(inner / euclidean_norm(support.view().row(i), 4));
          EXPECT_LE(low(static_cast<Index>(b), i), a + 1e-15 * size);
          EXPECT_GE(high(static_cast<Index>(b), i), a - 1e-15 * size);
        }
      }
    }
  }
}

}  // namespace
}  // namespace widelimit
