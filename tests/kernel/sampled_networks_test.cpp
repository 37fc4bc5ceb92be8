#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/monte_carlo.hpp"
#include "widelimit/network/shape.hpp"

#include "random_limit_network.hpp"
#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Sampled at two widths and extrapolated, which removes the bias of order 1/width; the bias of order 1/width² is at
/// most (layers/width)² of the kernel.
struct Sampled {
  Matrix<double> mean;
  Matrix<double> error;
};
Sampled extrapolated(const Matrix<double>& narrow, const Matrix<double>& narrow_error, const Matrix<double>& wide,
                     const Matrix<double>& wide_error) {
  Sampled result{Matrix<double>(narrow.rows(), narrow.cols()), Matrix<double>(narrow.rows(), narrow.cols())};
  for (Index k = 0; k < narrow.rows() * narrow.cols(); ++k) {
    result.mean.data()[k] = 2 * wide.data()[k] - narrow.data()[k];
    result.error.data()[k] = std::hypot(2 * wide_error.data()[k], narrow_error.data()[k]);
  }
  return result;
}

/// Largest deviation of random networks from the formula, in standard errors.
double deviations(const Network& network, const SampleView& x, Index layers, Index draws, std::uint64_t seed) {
  constexpr Index width = 64;
  const MonteCarloGram narrow = monte_carlo_gram(network, x, x, {.width = width, .draws = draws, .seed = seed});
  const MonteCarloGram wide = monte_carlo_gram(network, x, x, {.width = 2 * width, .draws = draws, .seed = seed + 1});
  const Gram limit = gram(network, x, {.kind = Kind::both}, *make_engine("cpu"));
  double most = 0;
  const auto compare = [&](const Sampled& sampled, const AnyMatrix& exact) {
    const auto& k = std::get<Matrix<double>>(exact);
    for (Index i = 0; i < k.rows(); ++i) {
      for (Index j = 0; j < k.cols(); ++j) {
        const double size = std::sqrt(k(i, i) * k(j, j));
        const double bias = std::pow(static_cast<double>(layers) / width, 2) * size;
        const double apart = std::max(0.0, std::abs(sampled.mean(i, j) - k(i, j)) - bias);
        most = std::max(most, apart / (sampled.error(i, j) + 1e-12 * size + 1e-300));
      }
    }
  };
  compare(extrapolated(narrow.nngp, narrow.nngp_error, wide.nngp, wide.nngp_error), limit.nngp);
  compare(extrapolated(narrow.ntk, narrow.ntk_error, wide.ntk, wide.ntk_error), limit.ntk);
  return most;
}

class SampledNetworks : public ::testing::TestWithParam<std::uint64_t> {};

/// Every network with a formula agrees with its random networks within 5 standard errors; the others are rejected.
/// Outliers are repeated with sixteen times as many draws, to exclude chance.
TEST_P(SampledNetworks, AgreeWithWhatClaimsAFormula) {
  constexpr std::uint64_t count = WIDELIMIT_SANITIZED != 0 ? 2 : 50;
  Index claimed = 0;
  for (std::uint64_t seed = GetParam() * count; seed < (GetParam() + 1) * count; ++seed) {
    const bool image = seed % 3 == 2;
    const Network network = Network::parse(test::RandomLimitNetwork(seed, image).text());
    const Shape shape = image ? Shape{2, 3, 2} : Shape{1, 1, 5};
    SCOPED_TRACE(fmt::format("{} on {}, seed {}", network.to_text(), to_string(shape), seed));
    const Matrix<double> x = normal_rows(2, shape.size(), 100 + seed);
    const SampleView view(x.view(), shape);
    if (exactness(network) == Exactness::monte_carlo) {
      EXPECT_THROW(static_cast<void>(gram(network, view, {}, *make_engine("cpu"))), Error);
      continue;
    }
    ++claimed;
    const Index layers = count_layers(network.layers);
    if (deviations(network, view, layers, 60, seed) > 4) {
      EXPECT_LE(deviations(network, view, layers, 960, seed + 1000), 5);
    }
  }
  if (count < 50) return;
  EXPECT_GT(claimed, static_cast<Index>(count / 3));  // about half have a formula
  EXPECT_LT(claimed, static_cast<Index>(count * 19 / 20));
}

/// 300 networks.
INSTANTIATE_TEST_SUITE_P(Fifty, SampledNetworks, ::testing::Range<std::uint64_t>(0, 6));

}  // namespace
}  // namespace widelimit
