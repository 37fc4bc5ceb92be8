#include "drawn_network.hpp"
#include "tests/base/normal_rows.hpp"
#include "tests/cuda/host_layers.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/certificate/network/difference_bounds.hpp"
#include "widelimit/certificate/network/network_bounds.hpp"
#include "widelimit/certificate/network/network_certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

using test::drawn_network;
using test::predicted_classes;

/// Engines that hold networks of finite width in their own memory.
class HeldNetworkOn : public test::BesideCpu {};

struct HeldCase {
  const char* text;
  Shape shape;
};
const Shape held_vector{1, 1, 7};
const Shape held_image{4, 4, 2};
/// Every layer and every activation with a range.
const HeldCase held_cases[] = {
    {"eq2", held_vector},
    {"fc:3(w_std=1.4, b_std=0.2)", held_vector},
    {"dense erf dense tanh dense sigmoid dense", held_vector},
    {"dense softplus dense swish dense gelu dense", held_vector},
    {"dense sin dense cos dense rbf dense gaussian dense", held_vector},
    {"dense abs dense leaky_relu(slope=0.2) dense leaky_relu(slope=-0.3) dense", held_vector},
    {"dense monomial(degree=2) dense rectified_monomial(degree=3) dense exp dense", held_vector},
    {"dense residual{ relu dense | dense } layer_norm dense identity scale(by=-2) dense", held_vector},
    {"layer_norm dense dropout(rate=0.5) relu dense", held_vector},
    {"relu dense sign dense", held_vector},
    {"conv(b_std=0.2) relu avg_pool conv gelu flatten dense", held_image},
    {"conv(strides=2) relu max_pool sum_pool(window=2,strides=1,padding=SAME) flatten dense", held_image},
    {"conv(padding=CIRCULAR, kernel=5) relu global_avg_pool dense", held_image},
    {"conv residual{ relu conv } global_sum_pool dense", held_image},
};

/// Two enclosures by the same formula: different orders of summation and fused operations change the last digits.
void expect_alike(const Enclosure& here, const Enclosure& there, const char* text) {
  ASSERT_EQ(here.centre.shape(), there.centre.shape());
  for (Index i = 0; i < here.centre.size(); ++i) {
    const double size = std::abs(there.centre[i]) + there.radius[i];
    ASSERT_EQ(std::isfinite(std::abs(here.centre[i]) + here.radius[i]), std::isfinite(size)) << text;
    if (!std::isfinite(size)) continue;
    ASSERT_NEAR(here.centre[i], there.centre[i], 1e-9 * size + 1e-11) << text;
    ASSERT_NEAR(here.radius[i], there.radius[i], 1e-9 * size + 1e-11) << text;
  }
}

TEST_P(HeldNetworkOn, EnclosuresAreThoseOfTheProcessor) {
  for (const auto& [text, shape] : held_cases) {
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const TrainedNetwork net = drawn_network(text, shape, {.width = 9, .outputs = 3, .precision = precision});
      for (const double radius : {0.0, 0.01, 0.5}) {
        Enclosure ball;
        ball.resize(3, net.architecture.input);
        const Matrix<double> rows = normal_rows(3, shape.size(), 5);
        std::copy_n(rows.data(), ball.centre.size(), ball.centre.data());
        std::fill(ball.radius.values().begin(), ball.radius.values().end(), radius);
        EnclosedPair pair{ball, ball, ball};
        pair.difference.centre.clear();
        pair.difference.radius.clear();
        Enclosure here = ball;
        Enclosure there = ball;
        EnclosedPair pair_here = pair;
        const auto& stages = net.architecture.stages;
        enclose_stages(net.architecture, net.parameters, stages, here, *engine_);
        enclose_stages(net.architecture, net.parameters, stages, there, *cpu_);
        EXPECT_TRUE(here.centre.on_engine());
        expect_alike(here, there, text);
        enclose_difference(net.architecture, net.parameters, net.start, stages, *engine_, pair_here);
        enclose_difference(net.architecture, net.parameters, net.start, stages, *cpu_, pair);
        expect_alike(pair_here.difference, pair.difference, text);
      }
    }
  }
}

struct HeldProblem {
  TrainedNetwork net;
  Matrix<double> rows;
  std::vector<Index> labels;
  [[nodiscard]] SampleView x() const { return {rows.view(), net.shape}; }
};

HeldProblem held_problem(const HeldCase& one, const test::DrawnOptions& options, Index count) {
  HeldProblem problem{drawn_network(one.text, one.shape, options), normal_rows(count, one.shape.size(), 4), {}};
  for (Index i = 0; i < count * one.shape.size(); ++i) {
    problem.rows.data()[i] = std::clamp(0.5 + 0.3 * problem.rows.data()[i], 0.0, 1.0);
  }
  problem.labels = predicted_classes(problem.net, problem.x());
  return problem;
}

/// Points on the boundary of every ball, and inside it.
Matrix<double> moved_inside(const HeldProblem& problem, const Certificates& c, const CertifyOptions& options,
                            std::uint64_t seed) {
  Matrix<double> moved(problem.rows.rows(), problem.rows.cols());
  const Random random(seed, 3);
  for (Index i = 0; i < moved.rows(); ++i) {
    double squares = 0;
    for (Index j = 0; j < moved.cols(); ++j) {
      const double u = 2 * random.uniform(static_cast<std::uint64_t>(i * moved.cols() + j)) - 1;
      moved(i, j) = options.norm == Norm::linf && seed % 2 == 1 ? std::copysign(1.0, u) : u;
      squares += moved(i, j) * moved(i, j);
    }
    const double size = 0.999 * c.radius[usize(i)] / (options.norm == Norm::l2 ? std::sqrt(squares) : 1.0);
    for (Index j = 0; j < moved.cols(); ++j) {
      moved(i, j) = problem.rows(i, j) + size * moved(i, j);
      if (options.box) moved(i, j) = std::clamp(moved(i, j), 0.0, 1.0);
    }
  }
  return moved;
}

/// Radii equal those of the processor up to one grid step, in all norms, with and without a box, and no point inside
/// them has another class.
TEST_P(HeldNetworkOn, RadiiAreThoseOfTheProcessorAndHold) {
  constexpr Index count = 5;
  for (const HeldCase& one : held_cases) {
    for (const Index outputs : {1, 3}) {
      const bool centred = outputs == 3;
      const Precision precision = outputs == 1 ? Precision::f32 : Precision::f64;
      const HeldProblem problem =
          held_problem(one, {.width = 10, .outputs = outputs, .precision = precision, .centred = centred}, count);
      for (const Norm norm : {Norm::linf, Norm::l2}) {
        for (const bool boxed : {false, true}) {
          CertifyOptions options{.norm = norm, .method = CertificateMethod::interval, .tolerance = 1e-6};
          if (boxed) options.box = Box{0, 1};
          const Certificates here = certify_network(problem.net, problem.x(), problem.labels, options, *engine_);
          const Certificates there = certify_network(problem.net, problem.x(), problem.labels, options, *cpu_);
          EXPECT_EQ(here.correct, there.correct) << one.text;
          for (std::size_t i = 0; i < count; ++i) {
            EXPECT_NEAR(here.margin[i], there.margin[i], 1e-10 * (1 + std::abs(there.margin[i]))) << one.text;
            EXPECT_NEAR(here.radius[i], there.radius[i], 1.001 * options.tolerance * there.radius[i]) << one.text;
            EXPECT_GT(here.radius[i], 0) << one.text;
          }
          for (std::uint64_t trial = 0; trial < 8; ++trial) {
            const Matrix<double> moved = moved_inside(problem, here, options, trial);
            EXPECT_EQ(predicted_classes(problem.net, SampleView(moved.view(), one.shape)), problem.labels) << one.text;
          }
        }
      }
    }
  }
}

/// Half-widths and units of balls.
TEST_P(HeldNetworkOn, UnequalWidthsAndUnitsAreThoseOfTheProcessor) {
  const HeldProblem problem = held_problem(held_cases[1], {.width = 10, .outputs = 2}, 5);
  CertifyOptions options{.method = CertificateMethod::interval, .tolerance = 1e-6};
  options.widths = {1, 2, 0.5, 1, 0, 3, 1};
  const Certificates here = certify_network(problem.net, problem.x(), problem.labels, options, *engine_);
  const Certificates there = certify_network(problem.net, problem.x(), problem.labels, options, *cpu_);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(here.radius[i], there.radius[i], 1.001 * options.tolerance * there.radius[i]);
  }
}

TEST_P(HeldNetworkOn, AttacksFindWhatThoseOfTheProcessorFind) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    for (const bool centred : {false, true}) {
      const HeldProblem problem =
          held_problem(held_cases[0], {.width = 30, .outputs = 2, .precision = precision, .centred = centred}, 6);
      CertifyOptions options{.method = CertificateMethod::interval, .attack = AttackOptions{}, .keep_attacked = true};
      const Certificates here = certify_network(problem.net, problem.x(), problem.labels, options, *engine_);
      const Certificates there = certify_network(problem.net, problem.x(), problem.labels, options, *cpu_);
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_GE(here.attack[i], here.radius[i]);
        ASSERT_EQ(std::isfinite(here.attack[i]), std::isfinite(there.attack[i]));
        if (!std::isfinite(there.attack[i])) continue;
        EXPECT_NEAR(here.attack[i], there.attack[i], 0.05 * there.attack[i]);
      }
    }
  }
}

/// More points than fit into the emulated memory at once: tests blocks of points and parts of balls.
TEST_P(HeldNetworkOn, BlocksAndPartsDoNotChangeAnswers) {
  const HeldProblem problem =
      held_problem({"eq2", {1, 1, 3}}, {.width = 70'000, .outputs = 1, .precision = Precision::f32}, 150);
  CertifyOptions options{.method = CertificateMethod::interval};
  options.radius = 2e-3;
  const Certificates here = certify_network(problem.net, problem.x(), problem.labels, options, *engine_);
  const Certificates there = certify_network(problem.net, problem.x(), problem.labels, options, *cpu_);
  EXPECT_EQ(here.radius, there.radius);
  const auto held = std::count_if(here.radius.begin(), here.radius.end(), [](double r) { return r > 0; });
  EXPECT_GT(held, 10);
  EXPECT_LT(held, 140);
}

std::string held_refusal(const TrainedNetwork& net, const SampleView& x, const Engine& engine) {
  const std::vector<Index> labels(usize(x.count()), 0);
  try {
    (void)certify_network(net, x, labels, {.method = CertificateMethod::interval}, engine);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::usage);
    return error.what();
  }
  return "nothing was refused";
}

TEST_P(HeldNetworkOn, RefusesByNameWhatTheProcessorRefusesAndTakesNoPoints) {
  const Matrix<double> rows = normal_rows(2, 8, 1);
  for (const char* text :
       {"dense attention flatten dense", "dense hermite(degree=2) dense", "dense polynomial(coef=[1,2]) dense"}) {
    const TrainedNetwork net = drawn_network(text, {2, 1, 4});
    const std::string here = held_refusal(net, {rows.view(), net.shape}, *engine_);
    EXPECT_EQ(here, held_refusal(net, {rows.view(), net.shape}, *cpu_));
    EXPECT_NE(here.find("layer"), std::string::npos) << here;
  }
  const TrainedNetwork net = drawn_network("eq2", {1, 1, 8});
  EXPECT_TRUE(
      certify_network(net, SampleView(Matrix<double>(0, 8).view(), net.shape), {}, {}, *engine_).radius.empty());
}

INSTANTIATE_TEST_SUITE_P(Engines, HeldNetworkOn, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

TEST(HeldNetwork, OtherEnginesAreRefusedByName) {
  const Matrix<double> rows = normal_rows(2, 8, 1);
  const TrainedNetwork net = drawn_network("eq2", {1, 1, 8});
  const std::string reason = held_refusal(net, {rows.view(), net.shape}, *make_engine("reference"));
  EXPECT_NE(reason.find("networks of finite width"), std::string::npos) << reason;
  EXPECT_NE(reason.find("cpu and cuda; choose one of them instead of reference"), std::string::npos) << reason;
}

/// Weights are uploaded once, and two numbers per ball are downloaded, for any width of the network.
TEST(HeldNetwork, OnlyMarginsComeBackFromADevice) {
  const auto transfers = std::make_shared<test::Transfers>();
  const auto engine = test::make_emulated_cuda_engine({.transfers = transfers});
  constexpr Index width = 5000;
  const HeldProblem problem =
      held_problem({"eq2", {1, 1, 20}}, {.width = width, .outputs = 1, .precision = Precision::f32}, 10);
  const CertifyOptions options{.method = CertificateMethod::interval};
  (void)certify_network(problem.net, problem.x(), problem.labels, options, *engine);
  EXPECT_LT(transfers->downloaded_bytes, 16 * 10 * 64);
  EXPECT_LT(transfers->uploaded_bytes, 4 * 21 * width + 10 * 64 * 32);
}

}  // namespace
}  // namespace widelimit
