#include "widelimit/analysis/equivalence/equivalence.hpp"

#include "dynamics_fixture.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"

namespace widelimit {
namespace {

/// Points on the sphere of radius √d with labels ±1, split into training and test points.
struct SignTask {
  SignTask(Index n, Index tests, Index outputs = 1)
      : x(random_numbers(n, dims, 3)),
        z(random_numbers(tests, dims, 4)),
        y(random_signs(n, outputs)),
        engine(make_engine("cpu", {.threads = 1})) {
    for (Matrix<double>* points : {&x, &z}) {
      for (Index i = 0; i < points->rows(); ++i) {
        double square = 0;
        for (Index j = 0; j < dims; ++j) square += (*points)(i, j) * (*points)(i, j);
        for (Index j = 0; j < dims; ++j) (*points)(i, j) *= std::sqrt(static_cast<double>(dims) / square);
      }
    }
  }

  [[nodiscard]] TrainData data() const {
    TrainData result{SampleView(x.view(), shape()), y.view()};
    if (z.rows() > 0) result.test = SampleView(z.view(), shape());
    return result;
  }
  [[nodiscard]] Equivalence compare(const EquivalenceOptions& options) const {
    return equivalence(Network::parse("fc:1"), data(), options, *engine);
  }
  static Shape shape() { return Shape{.channels = dims}; }

  static constexpr Index dims = 6;
  Matrix<double> x, z, y;
  std::unique_ptr<Engine> engine;
};

EquivalenceOptions small_options() {
  EquivalenceOptions options;
  options.train.loss.kind = LossKind::hinge;
  options.train.lambda = 0.1;
  options.train.rate = 0.02;
  options.train.steps = 60;
  options.train.records = 21;
  options.widths = {64};
  return options;
}

struct ExactCase {
  LossKind loss;
  Regulariser regulariser;
  Index batch;
};
class LinearisedNetwork : public testing::TestWithParam<ExactCase> {};

/// A linearised network equals the machine of its tangent kernel at every width, up to rounding that grows at most
/// linearly in the number of steps.
TEST_P(LinearisedNetwork, IsTheMachineOfItsOwnKernel) {
  const auto [loss, regulariser, batch] = GetParam();
  const SignTask task(17, 5);
  EquivalenceOptions options = small_options();
  options.train.loss.kind = loss;
  options.train.regulariser = regulariser;
  options.train.batch = batch;
  options.train.linearised = true;
  options.kernel = MachineKernel::start;
  options.widths = {37, 64};
  options.seeds = 2;
  const Equivalence result = task.compare(options);
  ASSERT_EQ(result.trouble(), "");
  ASSERT_EQ(result.runs.size(), 4U);
  for (const EquivalenceRun& run : result.runs) {
    EXPECT_LT(run.difference, 1e-11) << run.width;
    EXPECT_NEAR(run.loss, run.machine_loss, 1e-9);
  }
}
INSTANTIATE_TEST_SUITE_P(Cases, LinearisedNetwork,
                         testing::Values(ExactCase{LossKind::hinge, Regulariser::init, 0},
                                         ExactCase{LossKind::hinge, Regulariser::init, 4},
                                         ExactCase{LossKind::squared, Regulariser::aux, 0},
                                         ExactCase{LossKind::squared_hinge, Regulariser::none, 5},
                                         ExactCase{LossKind::insensitive, Regulariser::init, 17},
                                         ExactCase{LossKind::logistic, Regulariser::aux, 3}));

/// One layer: f = ⟨W, x⟩/√d, whose kernel does not depend on the width, and EQ's regulariser decays f itself.
TEST(EquivalenceTest, OneLayerIsItsMachineUnderItsOutputRegulariser) {
  const SignTask task(17, 5);
  EquivalenceOptions options = small_options();
  options.train.regulariser = Regulariser::output;
  options.kernel = MachineKernel::start;
  const Equivalence result = equivalence(Network::parse("dense"), task.data(), options, *task.engine);
  ASSERT_EQ(result.trouble(), "");
  EXPECT_LT(result.runs.front().difference, 1e-11);
}

/// Training only the output layer of random features: f is linear in the trained weights. If only the first layer is
/// trained, the machine of the frozen kernel is the limit.
TEST(EquivalenceTest, FrozenLayersAreThoseOfTheMachine) {
  const SignTask task(12, 4);
  EquivalenceOptions options = small_options();
  options.kernel = MachineKernel::start;
  const Equivalence features = equivalence(Network::parse("fc:2(frozen=2)"), task.data(), options, *task.engine);
  ASSERT_EQ(features.trouble(), "");
  EXPECT_LT(features.runs.front().difference, 1e-11);
  options.kernel = MachineKernel::limit;
  options.train.rate = 0.005;
  options.widths = {64, 256, 1024};
  options.seeds = 5;
  const Equivalence first =
      equivalence(Network::parse("dense relu dense(frozen=true)"), task.data(), options, *task.engine);
  ASSERT_EQ(first.trouble(), "");
  ASSERT_TRUE(first.slope && first.slope->interval);
  EXPECT_LE(first.slope->interval->first, -0.5);
  EXPECT_GE(first.slope->interval->second, -0.5);
  EXPECT_THROW((void)equivalence(Network::parse("fc:1(frozen=2)"), task.data(), options, *task.engine), Error);
  options.train.regulariser = Regulariser::output;
  EXPECT_THROW((void)equivalence(Network::parse("dense relu dense(frozen=true)"), task.data(), options, *task.engine),
               Error);
}

class WidthSlope : public testing::TestWithParam<LossKind> {};

/// EQ Theorem 3.5 and convergence of the tangent kernel: both differences decrease as m^{−1/2}.
TEST_P(WidthSlope, IsAboutMinusOneHalf) {
  const SignTask task(12, 4);
  EquivalenceOptions options = small_options();
  options.train.loss.kind = GetParam();
  options.train.rate = 0.005;
  options.widths = {64, 256, 1024};
  options.seeds = 5;
  const Equivalence result = task.compare(options);
  ASSERT_EQ(result.trouble(), "");
  ASSERT_TRUE(result.slope && result.slope->interval);
  EXPECT_EQ(result.slope->points, 15);
  EXPECT_LE(result.slope->interval->first, -0.5);
  EXPECT_GE(result.slope->interval->second, -0.5);
  EXPECT_LT(result.slope->interval->second, -0.2);
  EXPECT_GT(result.difference[0], result.difference[2]);
}
INSTANTIATE_TEST_SUITE_P(Losses, WidthSlope,
                         testing::Values(LossKind::hinge, LossKind::squared, LossKind::squared_hinge,
                                         LossKind::logistic, LossKind::insensitive));

/// The parts satisfy the triangle inequality; the kernel of a linearised network is constant, so the first part is the
/// whole difference.
TEST(EquivalenceTest, PartsAddUp) {
  const SignTask task(12, 4);
  EquivalenceOptions options = small_options();
  options.parts = true;
  options.train.lambda = 0.01;
  options.widths = {32, 128, 512};
  options.seeds = 3;
  const Equivalence moving = task.compare(options);
  ASSERT_EQ(moving.trouble(), "");
  ASSERT_EQ(moving.kernel_part.size(), 3U);
  for (const EquivalenceRun& run : moving.runs) {
    EXPECT_GT(run.movement_part, 0);
    EXPECT_LE(run.difference, run.kernel_part + run.movement_part);
  }
  ASSERT_TRUE(moving.kernel_slope && moving.movement_slope);
  EXPECT_LT(moving.movement_slope->slope, moving.kernel_slope->slope);
  ASSERT_EQ(moving.local_slopes.size(), 2U);
  EXPECT_EQ(moving.local_slopes[0].from, 32);
  EXPECT_EQ(moving.local_slopes[1].to, 512);
  EXPECT_TRUE(moving.straightness);

  options.train.linearised = true;
  const Equivalence still = task.compare(options);
  for (const EquivalenceRun& run : still.runs) {
    EXPECT_LT(run.movement_part, 1e-11);
    EXPECT_NEAR(run.kernel_part, run.difference, 1e-11);
  }
}

TEST(EquivalenceTest, RecordsBothAlongTheTraining) {
  const SignTask task(9, 3);
  EquivalenceOptions options = small_options();
  options.train.steps = 50;
  options.train.records = 8;
  options.widths = {32, 48};
  options.seeds = 2;
  const Equivalence result = task.compare(options);
  EXPECT_EQ(result.steps, (std::vector<Index>{0, 8, 15, 22, 29, 36, 43, 50}));
  EXPECT_EQ(result.watched, (std::vector<Index>{0, 1}));
  ASSERT_EQ(result.paths.size(), 2U);
  const EquivalencePath& path = result.paths[1];
  EXPECT_EQ(path.width, 48);
  EXPECT_EQ(path.difference.size(), 8U);
  EXPECT_EQ(path.difference.front(), 0);
  EXPECT_EQ(path.outputs.rows(), 8);
  EXPECT_EQ(path.machine_loss.front(), 9);
  EXPECT_DOUBLE_EQ(*std::max_element(path.difference.begin(), path.difference.end()), result.runs[1].difference);
  options.train.record_at = {1, 10};
  EXPECT_EQ(task.compare(options).steps, (std::vector<Index>{0, 1, 10, 50}));
}

TEST(EquivalenceTest, BatchesAreThoseOfEachSeed) {
  const SignTask task(16, 0);
  EquivalenceOptions options = small_options();
  options.train.batch = 4;
  options.train.seed = 5;
  options.widths = {2000};
  options.seeds = 2;
  const Equivalence result = task.compare(options);
  ASSERT_EQ(result.trouble(), "");
  // Machines with different batches have different final losses; each network is close to its own machine.
  EXPECT_NE(result.runs[0].machine_loss, result.runs[1].machine_loss);
  for (const EquivalenceRun& run : result.runs) EXPECT_LT(run.difference, 0.25);
}

TEST(EquivalenceTest, AwkwardSizesAreFine) {
  for (const Index n : {1, 2}) {
    const SignTask task(n, 0, 3);
    const Equivalence result = task.compare(small_options());
    EXPECT_EQ(result.trouble(), "");
    EXPECT_FALSE(result.slope);
    EXPECT_EQ(result.runs.front().test_difference, 0);
  }
  EquivalenceOptions options = small_options();
  options.train.steps = 0;
  EXPECT_EQ(SignTask(3, 2).compare(options).runs.front().difference, 0);
}

TEST(EquivalenceTest, ThreadsChangeNothing) {
  const SignTask task(9, 3);
  const auto run = [&](int threads) {
    const auto engine = make_engine("cpu", {.threads = threads});
    return equivalence(Network::parse("fc:1"), task.data(), small_options(), *engine).runs.front().difference;
  };
  EXPECT_EQ(run(3), run(1));
}

TEST(EquivalenceTest, DivergenceIsTold) {
  const SignTask task(9, 0);
  EquivalenceOptions options = small_options();
  options.train.loss.kind = LossKind::squared;
  options.train.rate = 100;
  const Equivalence result = task.compare(options);
  EXPECT_NE(result.trouble().find("width 64, seed 0"), std::string::npos) << result.trouble();
  EXPECT_FALSE(result.slope);
}

TEST(EquivalenceTest, RefusesWhatItCannotCompare) {
  const SignTask task(5, 0);
  const auto code = [&](auto change, const char* network = "fc:1") {
    EquivalenceOptions options = small_options();
    change(options);
    return code_of_error([&] { (void)equivalence(Network::parse(network), task.data(), options, *task.engine); });
  };
  EXPECT_EQ(code([](auto& o) { o.widths.clear(); }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.widths = {0}; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.widths = {8, 8}; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.seeds = 0; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.train.optimiser = {.momentum = 0.5}; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.train.flow_time = 1; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.train.record_at = {3, 2}; }), Code::usage);
  EXPECT_EQ(code([](auto& o) {
              o.parts = true;
              o.kernel = MachineKernel::start;
            }),
            Code::usage);
  EXPECT_EQ(code([](auto& o) { o.train.parameterisation = Parameterisation::standard; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.train.memory = 100; }), Code::resource);
  EXPECT_EQ(code([](auto&) {}, "dense relu dropout(0.5) dense"), Code::input);
  StopProgress progress(1);
  EXPECT_EQ(code([&](auto& o) { o.train.progress = &progress; }), Code::interrupted);
}

}  // namespace
}  // namespace widelimit
