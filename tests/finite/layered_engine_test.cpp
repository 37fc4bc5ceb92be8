#include "tests/cuda/host_layers.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/values.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/tangent/tangent.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

/// Networks in the memory of an engine compared to those of the processor.
namespace widelimit {
namespace {

template <std::floating_point T>
Tensor<T> normal_tensor(Index count, const Shape& shape, std::uint64_t stream) {
  Tensor<T> x(count, shape);
  Random(3, stream).normals(0, x.size(), 1.0, x.data());
  return x;
}

/// max |a − b| relative to 1 + max |b|.
template <typename T>
double distance(std::span<const T> a, std::span<const T> b) {
  EXPECT_EQ(a.size(), b.size());
  double far = 0;
  double large = 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    far = std::max(far, static_cast<double>(std::abs(a[i] - b[i])));
    large = std::max(large, static_cast<double>(std::abs(b[i])));
  }
  return far / large;
}

struct NetworkCase {
  const char* network;
  Shape input;
};
const NetworkCase network_cases[]{
    {"dense(b_std=0.3) relu dense(b_std=0.1) gelu dense", {1, 1, 37}},
    {"dense leaky_relu(slope=0.2) dense tanh dense layer_norm swish dense dropout(rate=0.7) dense", {1, 1, 5}},
    {"dense rbf(gamma=0.5) dense hermite(degree=3) dense polynomial(coef=[0.1, 0.5, 0.2]) dense softplus dense",
     {1, 1, 5}},
    {"dense residual{ erf dense scale(by=-0.7) } residual{ relu dense | dense } dense", {1, 1, 7}},
    {"conv(b_std=0.2) relu max_pool(window=3, strides=2, padding=SAME) conv(strides=2) abs flatten dense", {7, 6, 2}},
    {"conv(padding=CIRCULAR, strides=2) relu avg_pool(padding=CIRCULAR) conv(kernel=5, padding=CIRCULAR) sigmoid "
     "global_avg_pool dense(b_std=0.1)",
     {7, 6, 2}},
    {"conv(padding=VALID, kernel=2x3) relu sum_pool(window=3x2, strides=1, padding=SAME) global_sum_pool dense",
     {5, 6, 3}},
    {"conv relu attention relu global_avg_pool dense", {4, 3, 2}},
    {"dense(frozen=true) relu dense(b_std=0.1) relu dense(frozen=true)", {1, 1, 6}},
};

class LayeredEngine : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Engine> engine = test::engine_named(GetParam());
  std::unique_ptr<Engine> cpu = make_engine("cpu", {.threads = 1});

  /// Compares outputs, gradients, derivatives along a direction, and the kernel of two outputs, in T.
  template <std::floating_point T>
  void expect_passes(const NetworkCase& where, double rounding) const {
    const auto architecture =
        Architecture::make(Network::parse(where.network), where.input, {.hidden = 6, .outputs = 2});
    const auto parameters = draw_parameters<T>(architecture, 1, *engine);
    const auto direction = draw_parameters<T>(architecture, 2, *engine);
    const PassOptions masks{.dropout = DropoutDraw{9, 4}};
    for (const Index count : {1, 3}) {
      const Tensor<T> x = normal_tensor<T>(count, architecture.input, 1);
      const Tensor<T> signal = normal_tensor<T>(count, architecture.output, 2);
      const auto run = [&](const Engine& on) {
        Trace<T> trace = forward(architecture, parameters, x, masks, on);
        Gradient<T> gradient = backward(architecture, parameters, trace, signal, masks, on);
        Trace<T> changes;
        tangent(architecture, parameters, direction, trace, masks, on, changes);
        std::vector<T> all;
        const auto append = [&](std::span<const T> values) { all.insert(all.end(), values.begin(), values.end()); };
        append(std::as_const(trace).output().values());
        append(std::as_const(changes).output().values());
        append(std::as_const(gradient).input().values());
        const Matrix<T> kernel = empirical_ntk(architecture, gradient, on);
        append({kernel.data(), usize(count * count)});
        const Matrix<T> full = empirical_ntk(architecture, parameters, x, x, {.outputs = NtkOutputs::full}, on);
        append({full.data(), usize(4 * count * count)});
        const Matrix<T> mean = empirical_ntk(architecture, parameters, x, x, {}, on);
        append({mean.data(), usize(count * count)});
        return all;
      };
      EXPECT_LE(distance<T>(run(*engine), run(*cpu)), rounding) << where.network << ", " << count << " samples";
    }
  }
};

// A few hundred roundings, due to sums in different orders.
TEST_P(LayeredEngine, PassesAgreeWithTheProcessor) {
  for (const NetworkCase& where : network_cases) {
    expect_passes<double>(where, 2e-13);
    expect_passes<float>(where, 1e-4);
  }
}

struct Task {
  Task() : x(23, 18), y(23, 2) {
    Random(5).normals(0, 23 * 18, 1.0, x.data());
    for (Index i = 0; i < 23; ++i) y(i, i % 2) = 1;
  }
  [[nodiscard]] TrainData data() const { return {SampleView(x.view(), {3, 3, 2}), y.view()}; }
  Matrix<double> x;
  Matrix<double> y;
};

// Every optimiser and penalty for some steps: rounding errors grow by a factor below ten per step here, and Adam
// initially divides by small gradients.
TEST_P(LayeredEngine, TrainingAgreesWithTheProcessor) {
  using enum OptimiserKind;
  const Task task;
  const Network network = Network::parse("conv(b_std=0.1) erf flatten dense(b_std=0.2)");
  for (const Optimiser& optimiser :
       {Optimiser{}, Optimiser{.momentum = 0.9, .weight_decay = 0.01}, Optimiser{.kind = nesterov, .momentum = 0.8},
        Optimiser{.kind = adam}, Optimiser{.kind = adamw, .weight_decay = 0.1}}) {
    for (const Regulariser regulariser : {Regulariser::none, Regulariser::init, Regulariser::weights}) {
      TrainOptions options{.width = 5,
                           .loss = {LossKind::softmax},
                           .regulariser = regulariser,
                           .lambda = 0.05,
                           .rate = 0.01,
                           .steps = 8,
                           .batch = 7,
                           .optimiser = optimiser,
                           .seed = 2};
      const TrainedNetwork ours = train(network, task.data(), options, *engine);
      const TrainedNetwork theirs = train(network, task.data(), options, *cpu);
      const auto& w = std::get<Parameters<double>>(ours.parameters);
      const auto& v = std::get<Parameters<double>>(theirs.parameters);
      for (std::size_t l = 0; l < w.slots.size(); ++l) {
        EXPECT_LE(distance<double>(w.slots[l].w, v.slots[l].w), 1e-9) << to_string(optimiser.kind);
        EXPECT_LE(distance<double>(w.slots[l].b, v.slots[l].b), 1e-9) << to_string(optimiser.kind);
      }
      EXPECT_EQ(std::get<Parameters<double>>(ours.start).slots[0].w,
                std::get<Parameters<double>>(theirs.start).slots[0].w);
      EXPECT_NEAR(ours.record.objective.back(), theirs.record.objective.back(), 1e-9);
    }
  }
}

TEST_P(LayeredEngine, LinearisedAndFlowingTrainingAgreeWithTheProcessor) {
  const Task task;
  const Network network = Network::parse("flatten dense erf dense");
  for (const bool linearised : {true, false}) {
    TrainOptions options{.width = 9, .lambda = 0.05, .rate = 0.002, .steps = 40, .linearised = linearised};
    if (!linearised) options.flow_time = 0.02;
    const TrainedNetwork ours = train(network, task.data(), options, *engine);
    const TrainedNetwork theirs = train(network, task.data(), options, *cpu);
    EXPECT_EQ(ours.summary.steps, theirs.summary.steps);
    EXPECT_NEAR(ours.record.loss.back(), theirs.record.loss.back(), 1e-9);
    const Matrix<double> f = predict_outputs(ours, task.data().x, *engine);
    const Matrix<double> g = predict_outputs(theirs, task.data().x, *cpu);
    EXPECT_LE(distance<double>({f.data(), 46}, {g.data(), 46}), 1e-9);
  }
}

// The same training twice, and once more resumed from the middle: bit-identical.
TEST_P(LayeredEngine, TrainingGoesOnBitForBit) {
  const Task task;
  const Network network = Network::parse("conv relu flatten dropout(rate=0.8) dense(b_std=0.1)");
  TrainOptions options{.width = 5, .rate = 0.003, .steps = 12, .batch = 7, .optimiser = {.kind = OptimiserKind::adam}};
  TrainedNetwork middle;
  options.checkpoint = [&](const TrainedNetwork& trained) {
    if (trained.summary.steps == 5) middle = trained;
  };
  options.checkpoint_every = 5;
  const TrainedNetwork whole = train(network, task.data(), options, *engine);
  ASSERT_TRUE(middle.state.has_value());
  options.checkpoint = {};
  const TrainedNetwork again = train(network, task.data(), options, *engine);
  options.from = &middle;
  const TrainedNetwork rest = train(network, task.data(), options, *engine);
  const auto& w = std::get<Parameters<double>>(whole.parameters);
  for (const TrainedNetwork* other : {&again, &rest}) {
    const auto& v = std::get<Parameters<double>>(other->parameters);
    for (std::size_t l = 0; l < w.slots.size(); ++l) {
      EXPECT_EQ(w.slots[l].w, v.slots[l].w);
      EXPECT_EQ(w.slots[l].b, v.slots[l].b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, LayeredEngine, testing::ValuesIn(test::engines_and_cuda({"emulated"})));

// A step uploads sample indices and slopes and downloads outputs, but nothing of the size of the weights.
TEST(EmulatedLayers, StepsCopyNoWeights) {
  const auto transfers = std::make_shared<test::Transfers>();
  const auto engine = test::make_emulated_cuda_engine({.transfers = transfers});
  const Task task;
  constexpr Index batch = 8;
  std::vector<test::Transfers> counts;
  TrainOptions options{.width = 64, .rate = 1e-3, .steps = 6, .batch = batch, .records = 2, .keep_record = false};
  options.observer = [&](const TrainStep&) { counts.push_back(*transfers); };
  (void)train(Network::parse("flatten dense(b_std=0.1) relu dense relu dense"), task.data(), options, *engine);
  ASSERT_EQ(counts.size(), 6U);
  for (std::size_t k = 2; k < counts.size(); ++k) {
    // Upload of sample indices and slopes, download of outputs.
    EXPECT_EQ(counts[k].uploaded_bytes - counts[k - 1].uploaded_bytes,
              batch * sizeof(Index) + batch * 2 * sizeof(double));
    EXPECT_EQ(counts[k].downloaded_bytes - counts[k - 1].downloaded_bytes, batch * 2 * sizeof(double));
  }
}

TEST(EmulatedLayers, ValuesTravelOnlyWhereTheNewestAreElsewhere) {
  const auto transfers = std::make_shared<test::Transfers>();
  const auto engine = test::make_emulated_cuda_engine({.transfers = transfers});
  const auto side = layers_of<double>(*engine);
  ASSERT_NE(side, nullptr);
  EXPECT_EQ(layers_of<double>(*make_engine("cpu")), nullptr);
  Values<double> values(std::vector<double>{1, 2, 3});
  (void)values.read(side);
  (void)values.read(side);
  EXPECT_EQ(std::as_const(values)[2], 3);
  EXPECT_EQ(transfers->uploads, 1U);
  EXPECT_EQ(transfers->downloads, 0U);
  double* const there = values.update(side);
  side->combine(2, there, 0, nullptr, 3, there);
  const Values<double> copy = values;  // on the engine
  EXPECT_TRUE(copy.on_engine());
  EXPECT_EQ(transfers->downloads, 0U);
  EXPECT_EQ(copy, Values<double>(std::vector<double>{2, 4, 6}));
  EXPECT_EQ(transfers->downloads, 1U);
  values[0] = 7;
  EXPECT_FALSE(values.on_engine());
  EXPECT_EQ(transfers->downloads, 2U);
  EXPECT_EQ(side->squared_distance(values.read(side), copy.read(side), 3), 25);
  EXPECT_EQ(side->squared_distance(values.read(side), nullptr, 3), 101);
  values.clear();
  EXPECT_EQ(std::as_const(values)[1], 0);
  values.move_to_host();
  EXPECT_EQ(values.side(), nullptr);
  Values<double> taken = std::move(values);
  EXPECT_EQ(taken.size(), 3U);
}

// Weights requested by several threads are uploaded once.
TEST(EmulatedLayers, ThreadsReadTheSameValues) {
  const auto transfers = std::make_shared<test::Transfers>();
  const auto engine = test::make_emulated_cuda_engine({.transfers = transfers});
  const auto side = layers_of<float>(*engine);
  const Values<float> values(std::vector<float>(1000, 2.0F));
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (int k = 0; k < 8; ++k) {
    readers.emplace_back([&] {
      if (values.read(side)[999] != 2.0F || values[999] != 2.0F) ++wrong;
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(transfers->uploads, 1U);
  EXPECT_EQ(transfers->downloads, 0U);
}

// Sizes that are not multiples of block or segment sizes.
TEST(EmulatedLayers, ColumnSumsOfManyRows) {
  const auto engine = test::make_emulated_cuda_engine();
  const auto side = layers_of<float>(*engine);
  constexpr Index rows = 1037;
  constexpr Index cols = 37;
  const Tensor<float> x = normal_tensor<float>(rows, {1, 1, cols}, 7);
  Values<float> sums(std::vector<float>(cols, 1.0F));
  side->add_column_sums(-0.5F, x.read(side).data, rows, cols, sums.update(side));
  for (Index j = 0; j < cols; ++j) {
    double sum = 0;
    for (Index i = 0; i < rows; ++i) sum += static_cast<double>(x[i * cols + j]);
    EXPECT_NEAR(static_cast<double>(std::as_const(sums)[usize(j)]), 1 - 0.5 * sum, 1e-4);
  }
}

}  // namespace
}  // namespace widelimit
