#include "widelimit/base/error.hpp"
#include "widelimit/certificate/certify.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

using test::machine_of;
using test::normal_rows;
using test::rows_of;

/// A machine whose coefficients alternate: pairs of samples 1e-4 apart with ±size, plus something of order one.
Model ill_conditioned(const std::string& network, Index features, std::uint64_t seed, double size) {
  constexpr Index pairs = 3;
  Matrix<double> support = normal_rows(2 * pairs, features, seed), alpha = normal_rows(2 * pairs, 1, seed + 1);
  for (Index i = 0; i < pairs; ++i) {
    for (Index j = 0; j < features; ++j) support(2 * i + 1, j) = support(2 * i, j) * (1 + 1e-4 * support(2 * i + 1, j));
    alpha(2 * i, 0) = size * alpha(2 * i, 0);
    alpha(2 * i + 1, 0) = -alpha(2 * i, 0) + alpha(2 * i + 1, 0);
  }
  return machine_of(network, support, alpha, Scheme::sign, 2);
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

/// Coefficients of order one, half of them negative, so that both classes have some of the space.
Matrix<double> balanced(Index count, std::uint64_t seed) {
  Matrix<double> alpha = normal_rows(count, 1, seed);
  for (Index i = 0; i < count; ++i) alpha(i, 0) = i % 2 == 0 ? std::abs(alpha(i, 0)) : -std::abs(alpha(i, 0));
  return alpha;
}

/// With alternating coefficients of that size; 0: independent ones of order one.
Model random_machine(const std::string& network, Index features, std::uint64_t seed, double size) {
  return size > 0 ? ill_conditioned(network, features, seed, size)
                  : machine_of(network, normal_rows(6, features, seed), balanced(6, seed + 1), Scheme::sign, 2);
}

/// Places tried inside radii, and of these the ones about points that an attack has taken to the other class.
struct Tried {
  int places = 0;
  int contested = 0;

  void count(const Certificates& found, Index k, int trials) {
    if (!(found.radius[at(k)] > 0)) return;
    places += trials;
    if (std::isfinite(found.attack[at(k)])) contested += trials;
  }
};

/// For one machine of each kind; where there is but one, chance has a say.
constexpr int least_contested = WIDELIMIT_SANITIZED != 0 ? 2'000 : 3'000;

struct SoundnessCase {
  int depth;
  Index features;
  Norm norm;
  CertificateMethod method;
  double size;  // of alternating coefficients; 0: independent ones of order one
};

/// Adds the places tried: none where a radius is 0.
void attack_inside(const SoundnessCase& c, std::uint64_t seed, int trials, Tried& tried) {
  const Model model = random_machine(fmt::format("fc:{}", c.depth), c.features, seed, c.size);
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
    tried.count(found, k, trials);
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
  Tried plain, alternating;
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
  EXPECT_GE(plain.places, machines * 4'000);
  EXPECT_GE(plain.contested, machines * least_contested);
  EXPECT_GE(alternating.places, machines * 4'000);
  EXPECT_GE(alternating.contested, machines * least_contested);
  if (WIDELIMIT_SANITIZED == 0) {
    EXPECT_GE(plain.places + alternating.places, 100'000);
  }
}

struct ChainCase {
  const char* network;
  Kind kind;
  Norm norm;
  std::optional<Box> box;
  double size;
};

/// The same of chains that are not fc:depth.
void attack_inside(const ChainCase& c, std::uint64_t seed, int trials, Tried& tried) {
  constexpr Index points = 4, features = 3;
  Model model = random_machine(c.network, features, seed, c.size);
  model.kind = c.kind;
  const Chain chain = read_chain(std::get<Network>(model.kernel), model.shape);
  const auto& support = std::get<Matrix<double>>(model.support);
  const auto output = [&](const double* x) {
    long double sum = model.bias[0];
    for (Index i = 0; i < support.rows(); ++i) {
      sum += model.alpha(i, 0) * test::exact_entry(chain, c.kind, x, support.view().row(i));
    }
    return sum;
  };
  const Matrix<double> x = normal_rows(points, features, seed + 2);
  std::vector<Index> labels;
  for (Index k = 0; k < points; ++k) labels.push_back(output(x.view().row(k)) > 0 ? 1 : 0);
  const Certificates found =
      certify(model, rows_of(x), labels,
              {.norm = c.norm, .box = c.box, .attack = AttackOptions{.steps = 12, .restarts = 1}, .threads = 1});
  std::vector<double> moved(static_cast<std::size_t>(features));
  for (Index k = 0; k < points; ++k) {
    ASSERT_LE(found.radius[at(k)], found.attack[at(k)]) << c.network;
    tried.count(found, k, trials);
    for (int t = 0; t < trials && found.radius[at(k)] > 0; ++t) {
      place_in_ball(Random(seed), static_cast<std::uint64_t>(t * points + k), c.norm, found.radius[at(k)],
                    x.view().row(k), features, moved.data());
      for (double& value : moved) value = c.box ? std::clamp(value, c.box->low, c.box->high) : value;
      ASSERT_EQ(output(moved.data()) > 0, labels[at(k)] == 1) << c.network << ", seed " << seed;
    }
  }
}

/// Biases, slopes, scales, the NNGP, a box.
TEST(Soundness, NothingInsideARadiusOfOtherChainsHasAnotherClass) {
  const int machines = WIDELIMIT_SANITIZED != 0 ? 1 : 6;
  std::uint64_t seed = 5000;
  Tried plain, alternating;
  for (const char* network :
       {"dense(b_std=0.3) relu dense(b_std=0.2)", "fc:3(b_std=0.1)",
        "dense leaky_relu(slope=0.3) dense(w_std=2) relu dense", "dense relu dense(b_std=1) relu dense",
        "dense(b_std=0.1) leaky_relu(slope=0.5) scale(by=3) dense", "fc:2"}) {
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      for (const Norm norm : {Norm::linf, Norm::l2}) {
        for (const double size : {0.0, 1e8}) {
          for (int m = 0; m < machines; ++m) {
            Tried& tried = size > 0 ? alternating : plain;
            attack_inside({network, kind, norm, {}, size}, seed += 10, 32, tried);
            attack_inside({network, kind, norm, Box{-6, 6}, size}, seed += 10, 32, tried);
          }
        }
      }
    }
  }
  EXPECT_GE(plain.contested, machines * least_contested);  // of 6,144
  EXPECT_GE(alternating.contested, machines * least_contested);
}

}  // namespace
}  // namespace widelimit
