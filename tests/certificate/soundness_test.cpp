#include "widelimit/base/error.hpp"
#include "widelimit/certificate/certify.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

using test::machine_of;
using test::normal_rows;
using test::rows_of;

/// A machine whose coefficients alternate: pairs of samples 1e-4 apart with ±size, plus something of order one.
Model ill_conditioned(int depth, Index features, std::uint64_t seed, double size) {
  constexpr Index pairs = 3;
  Matrix<double> support = normal_rows(2 * pairs, features, seed), alpha = normal_rows(2 * pairs, 1, seed + 1);
  for (Index i = 0; i < pairs; ++i) {
    for (Index j = 0; j < features; ++j) support(2 * i + 1, j) = support(2 * i, j) * (1 + 1e-4 * support(2 * i + 1, j));
    alpha(2 * i, 0) = size * alpha(2 * i, 0);
    alpha(2 * i + 1, 0) = -alpha(2 * i, 0) + alpha(2 * i + 1, 0);
  }
  return machine_of(fmt::format("fc:{}", depth), support, alpha, Scheme::sign, 2);
}

/// Random places in the ball: corners, faces, and anything between.
void place_in_ball(const Random& random, std::uint64_t trial, Norm norm, double radius, const double* x, Index size,
                   double* to) {
  double length = 0;
  for (Index j = 0; j < size; ++j) {
    const auto index = (trial * 64 + static_cast<std::uint64_t>(j)) * 2;
    const double z = norm == Norm::linf ? 2 * random.uniform(index) - 1 : random.normal(index);
    to[j] = norm == Norm::linf && trial % 2 == 0 ? (z > 0 ? 1 : -1) : z;
    length = norm == Norm::linf ? 1 : length + z * z;
  }
  const double scale = radius / std::sqrt(length) * (trial % 3 == 0 ? random.uniform(trial * 64 * 2 + 1) : 1);
  for (Index j = 0; j < size; ++j) to[j] = x[j] + scale * to[j];
}

struct SoundnessCase {
  int depth;
  Index features;
  Norm norm;
  CertificateMethod method;
  double size;  // of alternating coefficients; 0: independent ones of order one
};

/// Adds the places tried to `places`: none where a radius is 0.
void attack_inside(const SoundnessCase& c, std::uint64_t seed, int trials, int& places) {
  const Model model = c.size > 0 ? ill_conditioned(c.depth, c.features, seed, c.size)
                                 : machine_of(fmt::format("fc:{}", c.depth), normal_rows(6, c.features, seed),
                                              normal_rows(6, 1, seed + 1), Scheme::sign, 2);
  constexpr Index points = 4;
  const Matrix<double> x = normal_rows(points, c.features, seed + 2);
  std::vector<Index> labels;
  for (Index k = 0; k < points; ++k) labels.push_back(test::exact_output(model, c.depth, x.view().row(k), 0) > 0);
  const Certificates found =
      certify(model, rows_of(x), labels,
              {.norm = c.norm, .method = c.method, .attack = AttackOptions{.steps = 12, .restarts = 1}, .threads = 1});
  const Random random(seed);
  std::vector<double> moved(static_cast<std::size_t>(c.features));
  for (Index k = 0; k < points; ++k) {
    ASSERT_LE(found.radius[at(k)], found.attack[at(k)]);
    if (found.radius[at(k)] > 0) places += trials;
    const long double sign = labels[at(k)] == 1 ? 1 : -1;
    for (int trial = 0; trial < trials && found.radius[at(k)] > 0; ++trial) {
      place_in_ball(random, static_cast<std::uint64_t>(trial * points + k), c.norm, found.radius[at(k)],
                    x.view().row(k), c.features, moved.data());
      ASSERT_GT(sign * test::exact_output(model, c.depth, moved.data(), 0), 0)
          << "depth " << c.depth << ", " << to_string(c.norm) << ", " << to_string(c.method) << ", seed " << seed;
    }
  }
}

/// 10⁵ random places and as many machines' attacks as there are machines; fewer where sanitizers watch.
TEST(Soundness, NothingInsideARadiusHasAnotherClass) {
  const int machines = WIDELIMIT_SANITIZED != 0 ? 1 : 12;
  std::uint64_t seed = 1000;
  int plain = 0, alternating = 0;
  for (const int depth : {1, 3}) {
    for (const Index features : {1, 2, 7}) {
      for (const Norm norm : {Norm::linf, Norm::l2}) {
        for (const CertificateMethod method :
             {CertificateMethod::paper, CertificateMethod::interval, CertificateMethod::convex}) {
          for (const double size : {0.0, 1e8}) {
            for (int m = 0; m < machines; ++m) {
              attack_inside({depth, features, norm, method, size}, seed += 10, 32, size > 0 ? alternating : plain);
            }
          }
        }
      }
    }
  }
  EXPECT_GE(plain, machines * 4'000);
  EXPECT_GE(alternating, machines * 4'000);
  if (WIDELIMIT_SANITIZED == 0) {
    EXPECT_GE(plain + alternating, 100'000);
  }
}

}  // namespace
}  // namespace widelimit
