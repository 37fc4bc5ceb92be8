#include "tests/engine/engines.hpp"
#include "tests/paths.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>

namespace widelimit {
namespace {

/// Kernels of one network on one pair of inputs, accurate to 50 digits.             [tools/near_parallel_values.py]
struct NearPair {
  std::string network;
  std::size_t number = 0;
  Matrix<double> x;  ///< two rows
  Shape shape;
  std::array<double, 6> kernels{};  ///< nngp 11, 12, 22; ntk 11, 12, 22
};

std::vector<NearPair> near_pairs(const std::string& group, const Shape& shape) {
  std::ifstream file(test::golden_file("near_parallel.json"));
  const nlohmann::json golden = nlohmann::json::parse(file)[group];
  std::vector<NearPair> result;
  for (const auto& [network, rows] : golden["kernels"].items()) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      NearPair pair{network, k, Matrix<double>(2, shape.size()), shape, rows[k]};
      for (const std::size_t i : {0U, 1U}) {
        const auto x = golden["pairs"][k][i].get<std::vector<double>>();
        std::copy(x.begin(), x.end(), pair.x.view().row(static_cast<Index>(i)));
      }
      result.push_back(std::move(pair));
    }
  }
  return result;
}

/// Errors of one back end for the pair 12.
struct NearError {
  std::array<double, 2> of{};  ///< nngp, ntk, relative to the geometric mean of 11 and 22
  double quadrature = 0;       ///< its own error estimate
};

NearError near_error(const NearPair& pair, const Engine& engine) {
  const Gram k = gram(Network::parse(pair.network), {pair.x.view(), pair.shape}, {.kind = Kind::both}, engine);
  NearError error{.quadrature = k.quadrature_error};
  for (const std::size_t kind : {0U, 1U}) {
    const auto& entries = std::get<Matrix<double>>(kind == 0 ? k.nngp : k.ntk);
    const double* exact = pair.kernels.data() + 3 * kind;
    error.of[kind] = std::abs(entries(0, 1) - exact[1]) / std::sqrt(exact[0] * exact[2]);
  }
  return error;
}

constexpr double ulp = 0x1p-52;

/// Amplification of an error e in 1 − ρ by the jumps of a network: (2/π)arccos ρ maps it to (2/π)√(2e).
double behind_jumps(const std::string& network, double e) {
  for (const std::string jump : {"sign ", "degree=0"}) {
    for (auto at = network.find(jump); at != std::string::npos; at = network.find(jump, at + 1)) {
      e = 2 * std::numbers::inv_pi * std::sqrt(2 * e);
    }
  }
  return e;
}

/// Closed forms other than rectifiers give 1 − ρ in fast engines the absolute error of ρ, as do all steps on images,
/// whose rectifiers have E[φ'φ'] = 1/2 − arccos(ρ)/2π. `ulps` of the functions of an engine.
double fast_limit(const NearPair& pair, double ulps) {
  const double rounding = ulps * ulp;
  const double tangent = pair.shape.positions() > 1 ? std::numbers::inv_pi * std::sqrt(2 * rounding) : 0;
  return std::max(behind_jumps(pair.network, rounding), tangent);
}

/// 1 − |ρ| of means over positions is accurate to ulps of long double, with an error of at most four times its value,
/// by the triangle inequality.
double pooled_limit(const NearPair& pair) {
  if (pair.network.find("pool") == std::string::npos) return 0;
  long double apart = 0, opposed = 0, square = 0;
  for (Index k = 0; k < pair.shape.size(); ++k) {
    const auto a = static_cast<long double>(pair.x(0, k)), b = static_cast<long double>(pair.x(1, k));
    apart += (a - b) * (a - b);
    opposed += (a + b) * (a + b);
    square += a * a;
  }
  const auto t = static_cast<double>(std::min(apart, opposed) / (2 * square));
  return behind_jumps(pair.network, std::min(0x1p-61, 4 * t));
}

struct Largest {
  double oracle = 0;
  double fast = 0;
};

Largest compare(const std::vector<NearPair>& pairs, const std::string& engine) {
  const auto fast = test::engine_named(engine);
  const double ulps = engine == "cpu" ? 8 : 32;
  const auto oracle = make_engine("reference");
  Largest largest;
  for (const NearPair& pair : pairs) {
    SCOPED_TRACE(pair.network + ", pair " + std::to_string(pair.number));
    const NearError slow = near_error(pair, *oracle);
    const NearError quick = near_error(pair, *fast);
    for (const std::size_t kind : {0U, 1U}) {
      // Rounding of w², b² and of the result; quadrature in double states its own error.
      const double few_ulps = 4 * ulp + slow.quadrature;
      EXPECT_LE(slow.of[kind], few_ulps + pooled_limit(pair));
      EXPECT_LE(slow.of[kind], std::max(quick.of[kind], few_ulps));
      EXPECT_LE(quick.of[kind], fast_limit(pair, ulps) + quick.quadrature);
      largest = {std::max(largest.oracle, slow.of[kind]), std::max(largest.fast, quick.of[kind])};
    }
  }
  return largest;
}

class NearParallelOn : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Engines, NearParallelOn, testing::ValuesIn(test::engines_and_cuda({"cpu", "emulated"})),
                         [](const auto& of) { return of.param; });

/// 1 − |ρ| from 1e-33 to 1.5e-8 through every activation, with biases, residuals and signs, which take its square root.
TEST_P(NearParallelOn, VectorsKeepTheirDistanceInTheOracle) {
  const Largest largest = compare(near_pairs("vectors", {1, 1, 3}), GetParam());
  printf("nearly parallel vectors: largest error %.2g in reference, %.2g in %s\n", largest.oracle, largest.fast,
         GetParam().c_str());
  EXPECT_GT(largest.fast, largest.oracle);
}

/// The same at norms 0.01 and 30 for saturating functions.
TEST_P(NearParallelOn, SmallAndLargeVectorsKeepTheirDistanceInTheOracle) {
  const Largest largest = compare(near_pairs("sizes", {1, 1, 3}), GetParam());
  printf("small and large vectors: largest error %.2g in reference, %.2g in %s\n", largest.oracle, largest.fast,
         GetParam().c_str());
  EXPECT_GT(largest.fast, largest.oracle);
}

TEST_P(NearParallelOn, ImagesKeepTheirDistanceInTheOracle) {
  const Largest largest = compare(near_pairs("images", {3, 2, 2}), GetParam());
  printf("nearly parallel images: largest error %.2g in reference, %.2g in %s\n", largest.oracle, largest.fast,
         GetParam().c_str());
  EXPECT_GT(largest.fast, largest.oracle);
}

/// User functions with a kink, a jump and neither, followed by two signs, which take the fourth root of 1 − |ρ|.
/// Quadrature in double has a relative error of √(2^-53) where it switches to first order, which at 1 − |ρ| = 2^-53 is
/// √(2^-53)·2^(-53/4)/4 of an entry.
TEST(NearParallel, UsersFunctionsKeepTheirDistanceInTheOracle) {
  const auto each = [](double (*f)(double)) {
    return [f](std::span<const double> x, std::span<double> y) { std::transform(x.begin(), x.end(), y.begin(), f); };
  };
  register_activation("near_relu", each([](double x) { return x > 0 ? x : 0; }));
  register_activation("near_sign", each([](double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : 0.0); }));
  register_activation("near_erf", each([](double x) { return std::erf(x); }));
  const auto oracle = make_engine("reference");
  int visited = 0;
  for (NearPair& pair : near_pairs("vectors", {1, 1, 3})) {
    for (const std::string name : {"relu", "sign", "erf"}) {
      if (pair.network != "dense(b_std=0.3) " + name + " dense sign dense sign dense") continue;
      pair.network = "dense(b_std=0.3) custom(name=near_" + name + ") dense sign dense sign dense";
      SCOPED_TRACE(pair.network + ", pair " + std::to_string(pair.number));
      const NearError error = near_error(pair, *oracle);
      EXPECT_LE(error.of[0], std::pow(2, -53.0 / 2 - 53.0 / 4 - 2) + error.quadrature);
      ++visited;
      break;
    }
  }
  EXPECT_EQ(visited, 30);
}

/// Equal inputs in two sets: the fourth root of 1 − |ρ| amplifies an error of one ulp to 1e-4.
TEST(NearParallel, EqualInputsAreEqualInTheOracle) {
  const auto oracle = make_engine("reference");
  for (const NearPair& pair : near_pairs("images", {3, 2, 2})) {
    const SampleView x(pair.x.view(), pair.shape);
    for (const std::string text : {"conv(b_std=0.3) erf avg_pool(window=2, padding=same) conv gelu flatten dense sign "
                                   "dense sign dense",
                                   "conv(b_std=0.3) erf conv attention flatten dense sign dense sign dense"}) {
      SCOPED_TRACE(text);
      const Gram k = gram(Network::parse(text), x, x, {.kind = Kind::both}, *oracle);
      EXPECT_NEAR(std::get<Matrix<double>>(k.nngp)(0, 0), 1, ulp);
      EXPECT_NEAR(std::get<Matrix<double>>(k.nngp)(1, 1), 1, ulp);
    }
  }
}

}  // namespace
}  // namespace widelimit
