#include "tests/base/normal_rows.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/monte_carlo.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Monte Carlo kernels on engines with their own memory, compared with the cpu: the same networks give the same numbers
/// up to rounding.
class MonteCarloOn : public test::BesideCpu {};

void expect_near(const Matrix<double>& here, const Matrix<double>& there, const std::string& what) {
  ASSERT_EQ(here.rows(), there.rows()) << what;
  ASSERT_EQ(here.cols(), there.cols()) << what;
  double scale = 0;
  for (Index i = 0; i < there.rows() * there.cols(); ++i) scale = std::max(scale, std::abs(there.data()[i]));
  for (Index i = 0; i < there.rows() * there.cols(); ++i) {
    ASSERT_NEAR(here.data()[i], there.data()[i], 1e-10 * scale) << what;
  }
}

void expect_same(const MonteCarloGram& here, const MonteCarloGram& there, const std::string& what) {
  expect_near(here.nngp, there.nngp, what + ": nngp");
  expect_near(here.nngp_error, there.nngp_error, what + ": its error");
  expect_near(here.ntk, there.ntk, what + ": ntk");
  expect_near(here.ntk_error, there.ntk_error, what + ": its error");
}

struct SampledNetwork {
  const char* text;
  Shape shape;
};
const Shape sampled_vector{1, 1, 6};
const Shape sampled_image{4, 3, 2};
const SampledNetwork sampled_networks[] = {
    {"dense relu dense", sampled_vector},
    {"dense(w_std=1.4, b_std=0.3) erf dense(b_std=0.2) gelu dense(b_std=0.1)", sampled_vector},
    {"dense(b_std=0.2) relu", sampled_vector},
    {"dense residual{ relu dense | dense(w_std=0.5) } layer_norm relu dense(frozen=true)", sampled_vector},
    {"dropout(rate=0.7) dense relu dropout dense", sampled_vector},
    {"dense polynomial(coef=[0.1,1,0.2]) dense", sampled_vector},
    {"conv(b_std=0.1) relu max_pool(window=2, strides=1) flatten dense", sampled_image},
    {"conv(strides=2) relu conv(padding=CIRCULAR) abs global_avg_pool dense", sampled_image},
    {"conv relu attention relu flatten", sampled_image},
};

TEST_P(MonteCarloOn, EqualsTheProcessor) {
  for (const auto& [text, shape] : sampled_networks) {
    const Network network = Network::parse(text);
    const Matrix<double> rows = normal_rows(5, shape.size(), 3);
    const Matrix<double> others = normal_rows(3, shape.size(), 4);
    const SampleView x(rows.view(), shape), y(others.view(), shape);
    const MonteCarloOptions options{.width = 12, .draws = 4, .seed = 9};
    const MonteCarloGram symmetric = monte_carlo_gram(network, x, x, options, *engine_);
    expect_same(symmetric, monte_carlo_gram(network, x, x, options, *cpu_), text);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < i; ++j) {
        EXPECT_EQ(symmetric.nngp(i, j), symmetric.nngp(j, i)) << text;
        EXPECT_EQ(symmetric.ntk(i, j), symmetric.ntk(j, i)) << text;
      }
    }
    expect_same(monte_carlo_gram(network, y, x, options, *engine_), monte_carlo_gram(network, y, x, options, *cpu_),
                text);
  }
}

TEST_P(MonteCarloOn, TakesNoSamplesAndLeavesOutTheTangentKernel) {
  const Network network = Network::parse("dense relu dense");
  const Matrix<double> none(0, 6);
  const SampleView empty(none.view(), sampled_vector);
  EXPECT_EQ(monte_carlo_gram(network, empty, empty, {.width = 4, .draws = 2}, *engine_).ntk.rows(), 0);
  const Matrix<double> rows = normal_rows(2, 6, 1);
  const SampleView x(rows.view(), sampled_vector);
  const MonteCarloGram nngp = monte_carlo_gram(network, x, x, {.width = 4, .draws = 2, .ntk = false}, *engine_);
  EXPECT_EQ(nngp.nngp.rows(), 2);
  EXPECT_EQ(nngp.ntk.rows(), 0);
}

struct StopsAfterTwo final : Progress {
  std::int64_t last = 0;
  bool update(std::int64_t done, std::int64_t /*total*/, std::string_view unit) override {
    if (unit == "networks") last = std::max(last, done);
    return last < 2;
  }
};

TEST_P(MonteCarloOn, StopsBetweenNetworks) {
  const Matrix<double> rows = normal_rows(2, 6, 1);
  const SampleView x(rows.view(), sampled_vector);
  StopsAfterTwo stop;
  const MonteCarloOptions options{.width = 4, .draws = 1'000'000, .progress = &stop};
  try {
    (void)monte_carlo_gram(Network::parse("dense relu dense"), x, x, options, *engine_);
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, MonteCarloOn, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

TEST(MonteCarloEngine, OthersAreRefusedByName) {
  const Matrix<double> rows = normal_rows(2, 6, 1);
  const SampleView x(rows.view(), sampled_vector);
  try {
    (void)monte_carlo_gram(Network::parse("dense"), x, x, {}, *make_engine("reference"));
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::usage);
    EXPECT_NE(std::string(error.what()).find("Monte Carlo kernels are computed by the back ends cpu and cuda"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace widelimit
