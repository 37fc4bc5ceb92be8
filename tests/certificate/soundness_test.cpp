#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/certificate/certify.hpp"

#include "cone_machine.hpp"
#include "tests/engine/engines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

using test::machine_of;
using test::rows_of;

/// A machine with alternating coefficients: pairs of samples at distance 1e-4 with coefficients ±size, plus terms of
/// order one.
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

/// A point in input space. The range of long double covers squares of all doubles.
using Place = std::vector<long double>;

/// Random points in the ball: corners, faces, and interior.
Place place_in_ball(const Random& random, std::uint64_t trial, Norm norm, double radius, const Place& x) {
  Place to(x.size());
  long double length = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const auto index = (trial * 64 + j) * 2;
    const double z = norm == Norm::linf ? 2 * random.uniform(index) - 1 : random.normal(index);
    to[j] = norm == Norm::linf && trial % 2 == 0 ? (z > 0 ? 1 : -1) : z;
    length = norm == Norm::linf ? 1 : length + z * z;
  }
  const long double scale = radius / std::sqrt(length) * (trial % 3 == 0 ? random.uniform(trial * 64 * 2 + 1) : 1);
  for (std::size_t j = 0; j < x.size(); ++j) to[j] = x[j] + scale * to[j];
  return to;
}

/// Coefficients of order one, half of them negative, so that both classes occur.
Matrix<double> balanced(Index count, std::uint64_t seed) {
  Matrix<double> alpha = normal_rows(count, 1, seed);
  for (Index i = 0; i < count; ++i) alpha(i, 0) = i % 2 == 0 ? std::abs(alpha(i, 0)) : -std::abs(alpha(i, 0));
  return alpha;
}

/// Coefficients alternate with modulus `size`; 0: independent coefficients of order one.
Model random_machine(const std::string& network, Index features, std::uint64_t seed, double size) {
  return size > 0 ? ill_conditioned(network, features, seed, size)
                  : machine_of(network, normal_rows(6, features, seed), balanced(6, seed + 1), Scheme::sign, 2);
}

/// Number of points tested inside radii, and of those near points that an attack moved to the other class.
struct TestedPoints {
  int places = 0;
  int contested = 0;

  void count(const Certificates& found, Index k, int trials) {
    if (!(found.radius[usize(k)] > 0)) return;
    places += trials;
    if (std::isfinite(found.attack[usize(k)])) contested += trials;
  }
};

/// Per machine of each kind; a single machine varies too much.
constexpr int least_contested = WIDELIMIT_SANITIZED != 0 ? 2'000 : 3'000;

/// Exponents of the powers of two by which the data are multiplied.
struct Scales {
  int points = 0, support = 0, coefficients = 0;
  int spread = 0;  ///< additional exponent range of support rows
};

void multiply(Matrix<double>& values, int exponent) {
  for (Index i = 0; i < values.rows() * values.cols(); ++i) values.data()[i] = std::ldexp(values.data()[i], exponent);
}

struct SoundnessCase {
  std::string network;
  Kind kind = Kind::ntk;
  Index features = 3;
  Norm norm = Norm::linf;
  CertificateMethod method = CertificateMethod::convex;
  std::optional<Box> box;
  double size = 0;  ///< modulus of alternating coefficients; 0: independent ones of order one
  Scales scales = {};
  const Engine& engine = all_processors();
};

/// f of a machine with one output, in long double.
class ExactMachine {
 public:
  explicit ExactMachine(const Model& model)
      : model_(model), chain_(read_chain(std::get<Network>(model.kernel), model.shape)) {}

  [[nodiscard]] long double at_place(const Place& x) const {
    const auto& support = std::get<Matrix<double>>(model_.support);
    long double sum = model_.bias[0];
    for (Index i = 0; i < support.rows(); ++i) {
      sum += model_.alpha(i, 0) * test::exact_entry(chain_, model_.kind, x.data(), support.view().row(i));
    }
    return sum;
  }
  /// Gradient by differences over `step`.
  [[nodiscard]] Place slope(Place x, long double step) const {
    Place result;
    for (long double& coordinate : x) {
      const long double here = coordinate;
      coordinate = here + step;
      const long double above = at_place(x);
      coordinate = here - step;
      result.push_back((above - at_place(x)) / (2 * step));
      coordinate = here;
    }
    return result;
  }

 private:
  const Model& model_;
  Chain chain_;
};

/// Returns the point of the ball farthest against a gradient.
Place against(const Place& x, const Place& slope, Norm norm, long double radius) {
  long double length = 0;
  for (const long double s : slope) length += s * s;
  Place moved = x;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const long double direction = norm == Norm::linf ? (slope[j] > 0 ? 1 : -1) : slope[j] / std::sqrt(length);
    if (std::isfinite(direction)) moved[j] -= radius * direction;
  }
  return moved;
}

/// Returns a machine with scaled rows.
Model scaled_machine(const SoundnessCase& c, std::uint64_t seed) {
  Model model = random_machine(c.network, c.features, seed, c.size);
  model.kind = c.kind;
  auto& support = std::get<Matrix<double>>(model.support);
  multiply(support, c.scales.support);
  const Random random(seed + 5);
  for (Index i = 0; i < support.rows() && c.scales.spread > 0; ++i) {
    const int more = static_cast<int>(c.scales.spread * random.uniform(static_cast<std::uint64_t>(i)));
    for (Index j = 0; j < support.cols(); ++j) support(i, j) = std::ldexp(support(i, j), more);
    model.alpha(i, 0) = std::ldexp(model.alpha(i, 0), -more);
  }
  multiply(model.alpha, c.scales.coefficients);
  return model;
}

/// Tries random points and a descent restricted to 0.999 of the radius. Adds to `tested`; nothing for a radius of 0.
void attack_inside(const SoundnessCase& c, std::uint64_t seed, int trials, TestedPoints& tested) {
  constexpr Index points = 4;
  constexpr int steps = 4;
  const Model model = scaled_machine(c, seed);
  const ExactMachine exact(model);
  Matrix<double> rows = normal_rows(points, c.features, seed + 2);
  multiply(rows, c.scales.points);
  std::vector<Place> x;
  std::vector<Index> labels;
  for (Index k = 0; k < points; ++k) {
    x.emplace_back(rows.view().row(k), rows.view().row(k) + c.features);
    labels.push_back(exact.at_place(x.back()) > 0 ? 1 : 0);
  }
  const Certificates found =
      certify(model, rows_of(rows), labels,
              {.norm = c.norm, .method = c.method, .box = c.box, .attack = AttackOptions{.steps = 12, .restarts = 1}},
              c.engine);
  for (Index k = 0; k < points; ++k) {
    const double radius = found.radius[usize(k)];
    ASSERT_LE(radius, found.attack[usize(k)]) << c.network << ", seed " << seed;
    if (!(radius > 0)) continue;
    tested.count(found, k, trials);
    const long double sign = labels[usize(k)] == 1 ? 1 : -1;
    Place moved = x[usize(k)];
    for (int trial = 0; trial < trials; ++trial) {
      if (trial < steps) {
        Place slope = exact.slope(moved, 1e-4L * radius);
        for (long double& s : slope) s *= sign;
        moved = against(x[usize(k)], slope, c.norm, 0.999L * radius);
      } else {
        moved =
            place_in_ball(Random(seed), static_cast<std::uint64_t>(trial * points + k), c.norm, radius, x[usize(k)]);
      }
      for (long double& value : moved) {
        if (c.box) value = std::clamp<long double>(value, c.box->low(0), c.box->high(0));
      }
      ASSERT_GT(sign * exact.at_place(moved), 0)
          << c.network << ", " << to_string(c.norm) << ", " << to_string(c.method) << ", seed " << seed << ", scales "
          << c.scales.points << ' ' << c.scales.support << ' ' << c.scales.coefficients << ' ' << c.scales.spread;
    }
  }
}

/// 10⁵ points in balls around points of random machines; fewer with sanitizers.
TEST(Soundness, NothingInsideARadiusHasAnotherClass) {
  const int machines = WIDELIMIT_SANITIZED != 0 ? 1 : 12;
  std::uint64_t seed = 1000;
  TestedPoints plain, alternating;
  for (const char* network : {"fc:1", "fc:3"}) {
    for (const Index features : {1, 2, 7}) {
      for (const Norm norm : {Norm::linf, Norm::l2}) {
        for (const CertificateMethod method :
             {CertificateMethod::paper, CertificateMethod::interval, CertificateMethod::convex}) {
          for (const double size : {0.0, 1e8}) {
            const SoundnessCase one{
                .network = network, .features = features, .norm = norm, .method = method, .size = size};
            for (int m = 0; m < machines; ++m) attack_inside(one, seed += 10, 32, size > 0 ? alternating : plain);
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

/// Biases, slopes, scales, frozen layers, the NNGP, a box.
TEST(Soundness, NothingInsideARadiusOfOtherChainsHasAnotherClass) {
  const int machines = WIDELIMIT_SANITIZED != 0 ? 1 : 6;
  std::uint64_t seed = 5000;
  TestedPoints plain, alternating;
  for (const char* network :
       {"dense(b_std=0.3) relu dense(b_std=0.2)", "fc:3(b_std=0.1)",
        "dense leaky_relu(slope=0.3) dense(w_std=2) relu dense", "dense relu dense(b_std=1) relu dense",
        "dense(b_std=0.1) leaky_relu(slope=0.5) scale(by=3) dense", "fc:2", "dense relu dense(frozen=true)",
        "fc:2(frozen=2)", "dense(b_std=0.3, frozen=true) relu dense(b_std=0.2) relu dense(b_std=0.5, frozen=true)"}) {
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      for (const Norm norm : {Norm::linf, Norm::l2}) {
        for (const double size : {0.0, 1e8}) {
          SoundnessCase one{.network = network, .kind = kind, .norm = norm, .size = size};
          for (int m = 0; m < 2 * machines; ++m) {
            if (m % 2 == 1) one.box = Box{-6, 6};
            attack_inside(one, seed += 10, 32, size > 0 ? alternating : plain);
            one.box.reset();
          }
        }
      }
    }
  }
  EXPECT_GE(plain.contested, machines * least_contested);  // of 6,144
  EXPECT_GE(alternating.contested, machines * least_contested);
}

/// All quantities over the range of float64: 2⁻¹⁰⁷⁴ to 2¹⁰²⁴. Machines whose outputs overflow are rejected; those whose
/// outputs underflow have no radius.
TEST(Soundness, NothingInsideARadiusHasAnotherClassAtAnyScale) {
  const int machines = WIDELIMIT_SANITIZED != 0 ? 8 : 120;
  const Random random(99);
  std::uint64_t draw = 0, seed = 9000;
  const auto uniform = [&](double low, double high) { return low + (high - low) * random.uniform(draw++); };
  const auto exponent = [&](double low, double high) { return static_cast<int>(uniform(low, high)); };
  TestedPoints tested;
  int refused = 0;
  for (const char* network : {"dense(w_std={w}) relu dense(w_std={w})", "dense(w_std={w})",
                              "dense(w_std={w},b_std={b}) relu dense(w_std={w},b_std={b})",
                              "dense(w_std={w}) relu dense(b_std={b}) leaky_relu(slope=0.2) dense"}) {
    for (const Norm norm : {Norm::linf, Norm::l2}) {
      for (const CertificateMethod method : {CertificateMethod::interval, CertificateMethod::convex}) {
        for (int m = 0; m < machines; ++m) {
          SoundnessCase one{.norm = norm, .method = method, .size = m % 3 == 0 ? 1e8 : 0};
          one.scales = {.points = exponent(-1060, 1000), .support = exponent(-1060, 800)};
          const int weights = exponent(-150, 150);
          // Half of the machines have outputs of order one although their terms have any scale.
          const int outputs = one.scales.points + one.scales.support + 4 * weights;
          one.scales.coefficients = m % 2 == 0 ? std::clamp(-outputs, -1000, 950) : exponent(-1000, 950);
          one.scales.spread = m % 5 == 0 ? exponent(0, 200) : 0;
          one.network = fmt::format(fmt::runtime(network), fmt::arg("w", std::ldexp(1.0, weights)),
                                    fmt::arg("b", std::ldexp(1.0, weights + exponent(-100, 100))));
          try {
            attack_inside(one, seed += 10, 16, tested);
          } catch (const Error& error) {
            ASSERT_EQ(error.code(), Code::numerical) << error.what();
            ++refused;
          }
        }
      }
    }
  }
  // Of 1,024 points per machine of each kind, and of 16 such machines.
  EXPECT_GE(tested.places, machines * 450);
  EXPECT_GE(tested.contested, machines * 200);
  EXPECT_LE(refused, machines * 8);
}

/// The same on engines that bound entries, expand and descend in their own memory.
class SoundnessOn : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int of_each_kind = WIDELIMIT_SANITIZED != 0 ? 1 : 4;

  /// Machines with random coefficients, and with large alternating ones.
  struct Found {
    TestedPoints plain, alternating;
  };
  [[nodiscard]] static Found attack_networks(const std::vector<const char*>& networks,
                                             const std::vector<CertificateMethod>& methods, std::uint64_t seed) {
    const auto engine = test::engine_named(GetParam());
    Found found;
    for (const char* network : networks) {
      for (const Norm norm : {Norm::linf, Norm::l2}) {
        for (const CertificateMethod method : methods) {
          for (const double size : {0.0, 1e8}) {
            SoundnessCase one{.network = network, .norm = norm, .method = method, .size = size, .engine = *engine};
            for (int m = 0; m < of_each_kind; ++m) {
              one.kind = m % 2 == 0 ? Kind::ntk : Kind::nngp;
              if (m % 3 == 1) one.box = Box{-6, 6};
              attack_inside(one, seed += 10, 32, size > 0 ? found.alternating : found.plain);
              one.box.reset();
            }
          }
        }
      }
    }
    return found;
  }
};

TEST_P(SoundnessOn, NothingInsideARadiusHasAnotherClass) {
  const auto [plain, alternating] =
      attack_networks({"fc:1", "fc:3", "dense leaky_relu(slope=0.3) dense(w_std=2) relu dense"},
                      {CertificateMethod::paper, CertificateMethod::interval, CertificateMethod::convex}, 20'000);
  EXPECT_GE(plain.places, of_each_kind * 1'000);  // of 2,304
  EXPECT_GE(alternating.places, of_each_kind * 1'000);
  EXPECT_GE(plain.contested + alternating.contested, of_each_kind * 1'000);
}

TEST_P(SoundnessOn, NothingInsideARadiusOfBiasesAndFrozenLayersHasAnotherClass) {
  const auto [plain, alternating] =
      attack_networks({"dense(b_std=0.3) relu dense(b_std=0.2)", "dense relu dense(b_std=1) relu dense",
                       "fc:2(frozen=2)", "fc:3(b_std=0.2, frozen=1)"},
                      {CertificateMethod::interval, CertificateMethod::convex}, 60'000);
  EXPECT_GE(plain.places, of_each_kind * 1'000);  // of 2,048
  EXPECT_GE(alternating.places, of_each_kind * 500);
  EXPECT_GE(plain.contested + alternating.contested, of_each_kind * 1'000);
}

TEST_P(SoundnessOn, NothingInsideARadiusHasAnotherClassAtAnyScale) {
  const auto engine = test::engine_named(GetParam());
  const int machines = WIDELIMIT_SANITIZED != 0 ? 4 : 40;
  const Random random(98);
  std::uint64_t draw = 0, seed = 40'000;
  const auto exponent = [&](int low, int high) {
    return low + static_cast<int>((high - low) * random.uniform(draw++));
  };
  TestedPoints tested;
  for (const Norm norm : {Norm::linf, Norm::l2}) {
    for (const CertificateMethod method : {CertificateMethod::interval, CertificateMethod::convex}) {
      for (int m = 0; m < machines; ++m) {
        SoundnessCase one{
            .network = "fc:1", .norm = norm, .method = method, .size = m % 3 == 0 ? 1e8 : 0, .engine = *engine};
        if (m % 2 == 1) {
          one.network = fmt::format("dense(b_std={}) relu dense", std::ldexp(1.0, exponent(-100, 100)));
        }
        one.scales = {.points = exponent(-1060, 1000), .support = exponent(-1060, 800)};
        one.scales.coefficients = std::clamp(-one.scales.points - one.scales.support, -1000, 950);
        one.scales.spread = m % 5 == 0 ? exponent(0, 200) : 0;
        try {
          attack_inside(one, seed += 10, 16, tested);
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), Code::numerical) << error.what();
        }
      }
    }
  }
  EXPECT_GE(tested.places, machines * 100);  // of 256
}

INSTANTIATE_TEST_SUITE_P(Engines, SoundnessOn, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace widelimit
