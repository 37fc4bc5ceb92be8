#include "widelimit/finite/tangent/empirical_ntk.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/ntk_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace widelimit {
namespace {

Tensor<double> normal_samples(Index count, const Shape& shape, std::uint64_t seed) {
  Tensor<double> x(count, shape);
  Random(seed, 21).normals(0, x.size(), 1.0, x.data());
  return x;
}

/// Rows ∂f_k(x_i)/∂w by central differences, row i·K + k; w the trained weights.
Matrix<double> jacobian(const Architecture& architecture, Parameters<double> parameters, const Tensor<double>& x) {
  const Index rows = x.count() * architecture.output.size();
  Matrix<double> result(rows, trained_count(architecture));
  Index column = 0;
  const double h = 1e-5;
  const auto vary = [&](Values<double>& weights) {
    for (std::size_t i = 0; i < weights.size(); ++i, ++column) {
      const double centre = weights[i];
      weights[i] = centre + h;
      const auto above = forward(architecture, parameters, x);
      weights[i] = centre - h;
      const auto below = forward(architecture, parameters, x);
      weights[i] = centre;
      for (Index r = 0; r < rows; ++r) result(r, column) = (above.output()[r] - below.output()[r]) / (2 * h);
    }
  };
  for (std::size_t l = 0; l < parameters.slots.size(); ++l) {
    if (!architecture.slots[l].trained) continue;
    vary(parameters.slots[l].w);
    vary(parameters.slots[l].b);
  }
  return result;
}

double inner(const Matrix<double>& a, Index i, const Matrix<double>& b, Index j) {
  return std::inner_product(a.view().row(i), a.view().row(i) + a.cols(), b.view().row(j), 0.0);
}

struct NtkCase {
  const char* network;
  Shape input;
  Index width;
};

// Covers both ways of contracting positions: few positions with wide matrices, and many with narrow ones.
const NtkCase ntk_cases[]{{"dense(b_std=0.3) erf dense erf dense(b_std=0.1)", {1, 1, 3}, 5},
                          {"conv(b_std=0.2, kernel=2) erf conv flatten dense", {2, 2, 1}, 7},
                          {"conv(b_std=0.2) erf conv erf global_avg_pool dense(b_std=1)", {5, 6, 2}, 3},
                          {"conv erf attention residual{ erf conv } flatten dense", {3, 3, 1}, 4},
                          {"dense(b_std=0.3, frozen=true) erf dense erf dense(b_std=0.1, frozen=true)", {1, 1, 3}, 5},
                          {"conv erf conv(b_std=0.2, frozen=true) erf global_avg_pool dense(b_std=1)", {5, 6, 2}, 3},
                          {"conv erf attention(frozen=true) residual{ erf conv } flatten dense", {3, 3, 1}, 4}};

TEST(EmpiricalNtk, IsTheProductOfJacobiansForAllOutputs) {
  for (const NtkCase& where : ntk_cases) {
    const auto architecture =
        Architecture::make(Network::parse(where.network), where.input, {.hidden = where.width, .outputs = 2});
    const auto parameters = draw_parameters<double>(architecture, 8);
    const auto x1 = normal_samples(3, architecture.input, 1);
    const auto x2 = normal_samples(2, architecture.input, 2);
    const Matrix<double> j1 = jacobian(architecture, parameters, x1);
    const Matrix<double> j2 = jacobian(architecture, parameters, x2);
    const Matrix<double> full = empirical_ntk(architecture, parameters, x1, x2, {.outputs = NtkOutputs::full});
    const Matrix<double> trace = empirical_ntk(architecture, parameters, x1, x2);
    ASSERT_EQ(full.rows(), 6);
    ASSERT_EQ(full.cols(), 4);
    const double size = 1 + inner(j1, 0, j1, 0) + inner(j2, 0, j2, 0);
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 4; ++j) {
        EXPECT_NEAR(full(i, j), inner(j1, i, j2, j), 1e-7 * size) << where.network;
      }
    }
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 2; ++j) {
        const double mean = (full(2 * i, 2 * j) + full(2 * i + 1, 2 * j + 1)) / 2;
        EXPECT_NEAR(trace(i, j), mean, 1e-12 * size);
      }
    }
    const Matrix<double> own = empirical_ntk(architecture, parameters, x1, x1, {.outputs = NtkOutputs::full});
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 6; ++j) EXPECT_NEAR(own(i, j), own(j, i), 1e-12 * size);
    }
  }
}

TEST(EmpiricalNtk, ProductNeedsNoMatrix) {
  for (const NtkCase& where : ntk_cases) {
    const auto architecture =
        Architecture::make(Network::parse(where.network), where.input, {.hidden = where.width, .outputs = 2});
    const auto parameters = draw_parameters<double>(architecture, 8);
    const auto x1 = normal_samples(3, architecture.input, 1);
    const auto x2 = normal_samples(4, architecture.input, 2);
    const Tensor<double> v = normal_samples(4, architecture.output, 3);
    const Tensor<double> product = ntk_product(architecture, parameters, x1, x2, v);
    const Matrix<double> kernel = empirical_ntk(architecture, parameters, x1, x2, {.outputs = NtkOutputs::full});
    for (Index i = 0; i < 6; ++i) {
      double sum = 0;
      double size = 1;
      for (Index j = 0; j < 8; ++j) {
        sum += kernel(i, j) * v[j];
        size += std::abs(kernel(i, j) * v[j]);
      }
      EXPECT_NEAR(product[i], sum, 1e-12 * size) << where.network;
    }
  }
}

/// Θ of "dense relu dense" with w_std = 1, no bias [docs/theory/kernels.md]: ⟨x,x'⟩/d·κ₀/2 of the first layer and
/// ‖x‖‖x'‖/d·κ₁/2 of the second, selected by `first` and `second`.
double two_layer_limit(const double* x, const double* y, Index d, bool first, bool second) {
  const double nx = std::sqrt(std::inner_product(x, x + d, x, 0.0));
  const double ny = std::sqrt(std::inner_product(y, y + d, y, 0.0));
  const double u = std::min(1.0, std::inner_product(x, x + d, y, 0.0) / (nx * ny));
  const double k0 = (std::numbers::pi - std::acos(u)) / std::numbers::pi;
  const double k1 = (std::sqrt(1 - u * u) + (std::numbers::pi - std::acos(u)) * u) / std::numbers::pi;
  return nx * ny / static_cast<double>(d) * 0.5 * ((first ? u * k0 : 0) + (second ? k1 : 0));
}

// The distance to the limit decreases as m^{−1/2}. The root mean square over s seeds has a relative error of at most
// 1/√(2s), even if all entries are fully correlated, and the slope between two widths √2 times that over the logarithm
// of their ratio.
TEST(EmpiricalNtk, ConvergesToTheLimitAsTheRootOfTheWidth) {
  const Index n = 4;
  const Index d = 6;
  const Index seeds = 100;
  const auto x = normal_samples(n, {1, 1, d}, 5);
  const auto distance = [&](bool first, bool second, Index width) {
    const Network network = {{Dense{.frozen = !first}, Activation{}, Dense{.frozen = !second}}};
    const auto architecture = Architecture::make(network, {1, 1, d}, {.hidden = width});
    double sum = 0;
    for (Index seed = 0; seed < seeds; ++seed) {
      const auto parameters = draw_parameters<double>(architecture, static_cast<std::uint64_t>(seed));
      const Matrix<double> kernel = empirical_ntk(architecture, parameters, x, x);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          const double error = kernel(i, j) - two_layer_limit(x.sample(i), x.sample(j), d, first, second);
          sum += error * error;
        }
      }
    }
    return std::sqrt(sum / static_cast<double>(seeds));
  };
  const double error = std::sqrt(2.0 / (2.0 * static_cast<double>(seeds))) / std::log(16.0);
  for (const auto& [first, second] : {std::pair(true, true), {true, false}, {false, true}}) {
    const double slope = std::log(distance(first, second, 4096) / distance(first, second, 256)) / std::log(16.0);
    EXPECT_NEAR(slope, -0.5, 3 * error) << first << ' ' << second;
  }
}

TEST(EmpiricalNtk, SaysThatAnEntryOverflows) {
  const auto architecture = Architecture::make(Network::parse("dense relu dense"), {1, 1, 3}, {.hidden = 8});
  const Parameters<double> parameters = draw_parameters<double>(architecture, 1);
  Tensor<double> x = normal_samples(4, {1, 1, 3}, 5);
  const Tensor<double> other = x;
  for (Index i = 0; i < x.size(); ++i) x.data()[i] *= 1e200;
  for (const NtkOutputs outputs : {NtkOutputs::trace, NtkOutputs::full}) {
    try {
      (void)empirical_ntk(architecture, parameters, x, x, {.outputs = outputs});
      ADD_FAILURE() << "an infinite kernel";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::numerical);
      EXPECT_NE(std::string(error.what()).find("scale the samples down"), std::string::npos);
    }
    EXPECT_NO_THROW((void)empirical_ntk(architecture, parameters, other, other, {.outputs = outputs}));
  }
}

TEST(EmpiricalNtk, IsTheSameInBothPrecisionsAndOnAnyNumberOfThreads) {
  const auto architecture =
      Architecture::make(Network::parse("dense relu dense relu dense"), {1, 1, 40}, {.hidden = 300});
  Tensor<float> x(70, {1, 1, 40});
  Random(1, 2).normals(0, x.size(), 1.0, x.data());
  const auto single = draw_parameters<float>(architecture, 3);
  const Matrix<float> one = empirical_ntk(architecture, single, x, x, {}, *make_engine("cpu", {.threads = 1}));
  const Matrix<float> four = empirical_ntk(architecture, single, x, x, {}, *make_engine("cpu", {.threads = 4}));
  Tensor<double> wide(70, {1, 1, 40});
  for (Index i = 0; i < x.size(); ++i) wide[i] = static_cast<double>(x[i]);
  const Matrix<double> precise = empirical_ntk(architecture, draw_parameters<double>(architecture, 3), wide, wide);
  for (Index i = 0; i < 70 * 70; ++i) {
    EXPECT_EQ(one.data()[i], four.data()[i]);
    EXPECT_NEAR(static_cast<double>(one.data()[i]), precise.data()[i], 1e-4);
  }
  EXPECT_EQ(parse_ntk_outputs("full"), NtkOutputs::full);
  EXPECT_THROW((void)parse_ntk_outputs("all"), Error);
}

}  // namespace
}  // namespace widelimit
