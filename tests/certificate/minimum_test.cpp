#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/convex/quadratic_form.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

/// ⟨g, v⟩ + vᵀBv with a symmetric B of mixed signs, and a factor for its slope.
struct Quadratic {
  Matrix<double> b;
  std::vector<double> g;

  Quadratic(Index size, std::uint64_t seed, double slope) : b(size, size), g(usize(size)) {
    const Random random(seed);
    for (Index j = 0; j < size; ++j) {
      for (Index k = 0; k <= j; ++k) b(j, k) = b(k, j) = random.normal(static_cast<std::uint64_t>(j * size + k));
      g[usize(j)] = slope * random.normal(static_cast<std::uint64_t>(size * size + j));
    }
  }
  [[nodiscard]] double operator()(const std::vector<double>& v) const {
    double sum = 0;
    for (Index j = 0; j < b.rows(); ++j) {
      double row = g[usize(j)];
      for (Index k = 0; k < b.cols(); ++k) row += b(j, k) * v[usize(k)];
      sum += row * v[usize(j)];
    }
    return sum;
  }
};

/// Coordinate descent from many starts: an upper bound close to the minimum over the box.
double least_in_box(const Quadratic& q, std::uint64_t seed) {
  const auto size = q.g.size();
  const Random random(seed);
  double least = 0;
  for (std::uint64_t start = 0; start < 16; ++start) {
    std::vector<double> v(size);
    for (std::size_t j = 0; j < size; ++j) v[j] = random.uniform(start * size + j) > 0.5 ? 1 : (j + 1 == size ? 0 : -1);
    for (int sweep = 0; sweep < 20; ++sweep) {
      for (std::size_t j = 0; j < size; ++j) {
        const double low = j + 1 == size ? 0 : -1;
        double slope = q.g[j];
        for (std::size_t k = 0; k < size; ++k) {
          if (k != j) slope += 2 * q.b(static_cast<Index>(j), static_cast<Index>(k)) * v[k];
        }
        const double bend = q.b(static_cast<Index>(j), static_cast<Index>(j));
        const auto value = [&](double x) { return (slope + bend * x) * x; };
        v[j] = value(low) < value(1) ? low : 1;
        if (bend > 0) v[j] = std::clamp(-slope / (2 * bend), low, 1.0);
      }
    }
    least = std::min(least, q(v));
  }
  return least;
}

TEST(BoxMinimum, IsBelowEveryPlaceOfTheBox) {
  for (const Index size : {1, 2, 7, 37}) {
    for (const double slope : {0.0, 1.0, 30.0}) {
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const Quadratic q(size, seed * 100 + static_cast<std::uint64_t>(size), slope);
        EXPECT_LE(box_minimum(q.g, q.b.view()), least_in_box(q, seed));
      }
    }
  }
}

/// Intervals inside the box, some of them degenerate: random points between their ends, corners first.
TEST(BoxMinimum, IsBelowEveryPlaceBetweenGivenEnds) {
  for (const Index size : {1, 2, 7, 37}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Quadratic q(size, seed * 100 + static_cast<std::uint64_t>(size), 3);
      const Random random(seed);
      std::vector<Interval> ends;
      for (std::uint64_t j = 0; j < usize(size); ++j) {
        const double a = 2 * random.uniform(2 * j) - 1, b = j % 5 == 3 ? a : 2 * random.uniform(2 * j + 1) - 1;
        ends.push_back({std::min(a, b), std::max(a, b)});
      }
      const double bound = box_minimum(q.g, q.b.view(), ends);
      EXPECT_GE(bound, box_minimum(q.g, q.b.view(), std::vector<Interval>(usize(size), {-1, 1})) - 1e-9);
      for (std::uint64_t trial = 0; trial < 400; ++trial) {
        std::vector<double> v;
        for (std::uint64_t j = 0; j < usize(size); ++j) {
          const double t = random.uniform(1000 + trial * usize(size) + j);
          v.push_back(ends[j].low + (trial < 200 ? std::round(t) : t) * (ends[j].high - ends[j].low));
        }
        EXPECT_LE(bound, q(v));
      }
    }
  }
}

TEST(BoxMinimum, LosesNothingWhereSlopesAreStrongerThanWhatCouples) {
  for (const Index size : {2, 7, 20}) {
    Quadratic q(size, 5, 1);
    for (double& slope : q.g) slope = slope > 0 ? 200 : -200;
    q.g.back() = 200;
    const double least = least_in_box(q, 3);
    EXPECT_NEAR(box_minimum(q.g, q.b.view()), least, 1e-10 * std::abs(least));
  }
}

TEST(BallMinimum, IsTheMinimumOverTheBall) {
  // Diagonal B: the minimum over the sphere by its secular equation, accurate to four digits, or a lower bound.
  for (const double slope : {0.1, 1.0, 10.0}) {
    Quadratic q(5, 9, slope);
    for (Index j = 0; j < 5; ++j) {
      for (Index k = 0; k < 5; ++k) q.b(j, k) = j == k ? static_cast<double>(j) - 3 : 0;
    }
    double low = 3 + 1e-12, high = 1e3;
    const auto length = [&](double mu) {
      double sum = 0;
      for (Index j = 0; j < 5; ++j) sum += std::pow(q.g[usize(j)] / (2 * (q.b(j, j) + mu)), 2);
      return sum;
    };
    for (int step = 0; step < 200; ++step) (length((low + high) / 2) > 1 ? low : high) = (low + high) / 2;
    std::vector<double> v(5);
    for (Index j = 0; j < 5; ++j) v[usize(j)] = -q.g[usize(j)] / (2 * (q.b(j, j) + high));
    const double found = ball_minimum(q.g, q.b.view()), least = q(v);
    EXPECT_LE(found, least + 1e-9);
    EXPECT_GT(found, least - 0.02 * std::abs(least));
  }
}

TEST(BallMinimum, IsBelowEveryPlaceOfTheBall) {
  for (const Index size : {1, 2, 7, 37}) {
    for (const double slope : {0.0, 1.0, 30.0}) {
      const Quadratic q(size, static_cast<std::uint64_t>(size), slope);
      const double bound = ball_minimum(q.g, q.b.view());
      // Projected steepest descent.
      std::vector<double> v(usize(size), 0.01);
      double least = 0;
      for (int step = 0; step < 300; ++step) {
        std::vector<double> down(q.g.begin(), q.g.end());
        for (Index j = 0; j < size; ++j) {
          for (Index k = 0; k < size; ++k) down[usize(j)] += 2 * q.b(j, k) * v[usize(k)];
        }
        double norm = 0;
        for (Index j = 0; j < size; ++j) norm += std::pow(v[usize(j)] -= 0.02 * down[usize(j)], 2);
        for (double& x : v) x /= std::max(1.0, std::sqrt(norm));
        least = std::min(least, q(v));
      }
      EXPECT_LE(bound, least);
      // A shorter v is equivalent to a rescaled problem.
      Quadratic shorter(size, static_cast<std::uint64_t>(size), slope);
      for (double& x : shorter.g) x *= 0.3;
      for (Index k = 0; k < size * size; ++k) shorter.b.data()[k] *= 0.09;
      const double scaled = ball_minimum(shorter.g, shorter.b.view());
      EXPECT_NEAR(ball_minimum(q.g, q.b.view(), 0.3), scaled, 0.05 * std::abs(scaled));
    }
  }
}

}  // namespace
}  // namespace widelimit
