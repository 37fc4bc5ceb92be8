#include "tests/base/normal_rows.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/convex/expansion.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

using test::machine_of;
using test::rows_of;

/// κ of fc:depth in long double: scale·N·M·κ(u) is the kernel of (cos, sin) and (1, 0).
long double exact_kappa(const ConeKernel& kernel, int depth, double u) {
  const double x[2] = {u, std::sqrt((1 - u) * (1 + u))}, y[2] = {1, 0};
  return test::exact_ntk(depth, x, y, 2) / static_cast<long double>(kernel.scale());
}

TEST(Curvature, HoldsEveryDividedDifference) {
  for (const int depth : {1, 2, 4}) {
    const ConeKernel kernel(Network::parse(fmt::format("fc:{}", depth)), Kind::ntk, {1, 1, 2});
    const Random random(7);
    std::vector<CosineRange> ranges;
    for (std::uint64_t k = 0; k < 200; ++k) {
      const double floor = k % 2 == 0 ? 0 : -1;
      std::array<double, 3> u{};
      for (std::uint64_t c = 0; c < 3; ++c) u[c] = floor + (0.999 - floor) * random.uniform(3 * k + c);
      std::sort(u.begin(), u.end());
      ranges.push_back({u[0], u[1], k % 5 == 0 ? 1.0 : u[2]});
    }
    const CurvatureBounds bounds(kernel, ranges);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto [low, t, high] = ranges[i];
      for (int step = 0; step <= 16; ++step) {
        const double u = low + (high - low) * step / 16;
        if (std::abs(u - t) < 1e-4) continue;
        const long double gap = exact_kappa(kernel, depth, u) - exact_kappa(kernel, depth, t) -
                                static_cast<long double>(bounds.slope[i]) * (u - t);
        // Limited accuracy due to the rounding of x in exact_kappa and of the slope.
        const long double c = gap / ((u - t) * (u - t)), slack = 1e-13L / ((u - t) * (u - t));
        EXPECT_GE(c, bounds.curvature[i].low - slack) << depth << ": " << low << " " << t << " " << high << " at " << u;
        EXPECT_LE(c, bounds.curvature[i].high + slack)
            << depth << ": " << low << " " << t << " " << high << " at " << u;
      }
    }
  }
}

struct BoundCase {
  int depth;
  Index features;
  Index supports;
  Norm norm;
  bool positive;     ///< samples in [0, 1], with that box
  double size;       ///< scale of the coefficients
  Index absent = 0;  ///< number of last features that are 0 in all samples but not in points
};

/// The smallest f found in the ball: by steps towards the corner (or the point of the sphere) given by the gradient,
/// with finite-difference gradients, and by random search.
long double least_found(const Model& model, const BoundCase& c, const double* x, double radius, double sign) {
  const auto size = static_cast<std::size_t>(c.features);
  const auto f = [&](const std::vector<double>& v) {
    return static_cast<long double>(sign) * test::exact_output(model, c.depth, v.data(), 0);
  };
  std::vector<double> low(size), high(size);
  for (std::size_t j = 0; j < size; ++j) {
    low[j] = c.positive ? std::max(0.0, x[j] - radius) : x[j] - radius;
    high[j] = c.positive ? std::min(1.0, x[j] + radius) : x[j] + radius;
  }
  const Random random(11);
  long double least = f(std::vector<double>(x, x + size));
  for (std::uint64_t start = 0; start < 4; ++start) {
    std::vector<double> v(x, x + size);
    for (int step = 0; step < 6; ++step) {
      std::vector<double> slope(size);
      double norm = 0;
      for (std::size_t j = 0; j < size; ++j) {
        std::vector<double> moved = v;
        moved[j] += 1e-6;
        slope[j] = static_cast<double>(f(moved) - f(v));
        if (start > 0 && step == 0) slope[j] = random.normal(start * 1000 + j);
        norm += slope[j] * slope[j];
      }
      std::vector<double> end(size);
      for (std::size_t j = 0; j < size; ++j) {
        end[j] = c.norm == Norm::linf ? (slope[j] > 0 ? low[j] : high[j])
                                      : std::clamp(x[j] - radius * slope[j] / std::sqrt(norm), low[j], high[j]);
      }
      for (const double part : {0.1, 0.5, 1.0}) {
        std::vector<double> between(size);
        for (std::size_t j = 0; j < size; ++j) between[j] = v[j] + part * (end[j] - v[j]);
        if (f(between) < least) least = f(between), v = between;
      }
    }
  }
  return least;
}

void check_bound(const BoundCase& c, std::uint64_t seed) {
  Matrix<double> support = normal_rows(c.supports, c.features, seed),
                 alpha = normal_rows(c.supports, 1, seed + 1, c.size);
  Matrix<double> x = normal_rows(4, c.features, seed + 2);
  if (c.positive) {
    for (auto* rows : {&support, &x}) {
      std::transform(rows->data(), rows->data() + rows->rows() * rows->cols(), rows->data(),
                     [](double t) { return std::min(1.0, std::abs(t) / 2); });
    }
  }
  for (Index i = 0; i < c.supports; ++i) {
    for (Index j = c.features - c.absent; j < c.features; ++j) support(i, j) = 0;
  }
  // One point equals a training sample, where κ' is infinite.
  std::copy_n(support.view().row(0), c.features, x.view().row(0));
  const Model model = machine_of(fmt::format("fc:{}", c.depth), support, alpha, Scheme::sign, 2);
  const ConeKernel kernel(std::get<Network>(model.kernel), Kind::ntk, model.shape);
  CertifyOptions options{.norm = c.norm};
  if (c.positive) options.box = Box{0, 1};
  std::vector<Functional> functionals;
  std::vector<BallQuery> queries;
  for (Index k = 0; k < 4; ++k) {
    functionals.push_back(k % 2 == 0 ? Functional{.point = k, .plus = 0} : Functional{.point = k, .minus = 0});
    for (const double radius : {1e-9, 1e-3, 0.03, 0.2, 0.6}) queries.push_back({.functional = k, .radius = radius});
  }
  const CertificateProblem problem{kernel,      support.view(), model.alpha.view(), model.bias, x.view(),
                                   functionals, options,        all_processors()};
  const auto whole = make_convex_bound(problem);
  const std::vector<double> bounds = whole->evaluate(queries);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const Index k = queries[q].functional;
    const long double least = least_found(model, c, x.view().row(k), queries[q].radius, k % 2 == 0 ? 1 : -1);
    EXPECT_LE(bounds[q], least) << "depth " << c.depth << ", features " << c.features << ", " << to_string(c.norm)
                                << ", radius " << queries[q].radius << ", point " << k << ", seed " << seed;
    for (const double larger : {1.0, 1.01, 2.0}) {
      const auto within = whole->within({.point = k, .radius = queries[q].radius * larger});
      const double bound = within->evaluate({&queries[q], 1}).front();
      EXPECT_LE(bound, least) << "by the ball " << larger << " times as large, depth " << c.depth << ", features "
                              << c.features << ", " << to_string(c.norm) << ", radius " << queries[q].radius
                              << ", seed " << seed;
      if (larger == 1) {
        EXPECT_EQ(bound, bounds[q]);
      }
    }
    // The bound is tight: close to f for a tiny ball.
    if (queries[q].radius == 1e-9 && c.size == 1) {
      EXPECT_GT(bounds[q], least - 1e-5L);
    }
  }
}

TEST(ConvexBound, IsBelowTheMachineOnEveryBall) {
  std::uint64_t seed = 50;
  for (const int depth : {1, 3}) {
    for (const Index features : {1, 2, 9}) {
      for (const Norm norm : {Norm::linf, Norm::l2}) {
        for (const bool positive : {false, true}) {
          for (const double size : {1.0, 1e8}) {
            check_bound({depth, features, 12, norm, positive, size}, seed += 3);
            if (features > 1 && size == 1)
              check_bound({depth, features, 12, norm, positive, size, features / 2}, seed += 3);
          }
        }
      }
    }
  }
}

/// Two adjacent samples with opposite coefficients: separate bounds are useless, but their sum hardly varies.
TEST(ConvexBound, KeepsWhatCancelsBetweenSamples) {
  constexpr Index features = 20;
  Matrix<double> support = normal_rows(3, features, 1), alpha(3, 1), x = normal_rows(1, features, 2);
  for (Index j = 0; j < features; ++j) support(1, j) = support(0, j) + 0.01 * support(1, j), support(2, j) = x(0, j);
  alpha(0, 0) = 50, alpha(1, 0) = -50, alpha(2, 0) = 1;
  const Model model = machine_of("fc:1", support, alpha, Scheme::sign, 2);
  const std::vector<Index> label{test::exact_output(model, 1, x.view().row(0), 0) > 0};
  const auto radius = [&](CertificateMethod method) {
    return certify(model, rows_of(x), label, {.method = method}).radius[0];
  };
  EXPECT_GT(radius(CertificateMethod::convex), 5 * radius(CertificateMethod::interval));
}

}  // namespace
}  // namespace widelimit
