#include "../data/fixture.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

class Checkpoint : public Folder {
 protected:
  Checkpoint() : x_(24, 36), y_(24, 3) {
    Random(4).normals(0, 24 * 36, 1.0, x_.data());
    for (Index i = 0; i < 24; ++i) y_(i, i % 3) = 1;
  }
  [[nodiscard]] TrainData data() const { return {SampleView(x_.view(), {6, 6, 1}), y_.view()}; }

  /// Options with all random features: batches, dropout, augmentation.
  [[nodiscard]] static TrainOptions options(const Optimiser& optimiser, Precision precision) {
    return {.width = 6,
            .loss = {LossKind::softmax},
            .lambda = 0.01,
            .rate = 0.003,
            .steps = 20,
            .batch = 7,
            .optimiser = optimiser,
            .schedule = {.kind = ScheduleKind::cosine, .warmup = 0.1},
            .augmentation = {.flip = true, .crop = 1},
            .seed = 5,
            .precision = precision};
  }
  static inline const Network network = Network::parse(
      "conv(b_std=0.1) relu residual{ conv(strides=2) relu conv scale(by=0.5) | conv(kernel=1, strides=2) } "
      "relu flatten dropout(rate=0.8) dense(b_std=0.1)");

  Matrix<double> x_;
  Matrix<double> y_;
};

template <std::floating_point T>
void expect_same(const TrainedNetwork& a, const TrainedNetwork& b) {
  const auto& one = std::get<Parameters<T>>(a.parameters);
  const auto& other = std::get<Parameters<T>>(b.parameters);
  for (std::size_t l = 0; l < one.slots.size(); ++l) {
    EXPECT_EQ(one.slots[l].w, other.slots[l].w);
    EXPECT_EQ(one.slots[l].b, other.slots[l].b);
  }
  EXPECT_EQ(a.summary.steps, b.summary.steps);
  EXPECT_EQ(a.summary.time, b.summary.time);
  EXPECT_EQ(a.record.loss.back(), b.record.loss.back());
}

// Stopped at step 8, saved, loaded with another number of threads, and resumed: bit-identical to an uninterrupted
// training.
TEST_F(Checkpoint, ContinuesBitForBit) {
  using enum OptimiserKind;
  for (const Optimiser& optimiser :
       {Optimiser{}, Optimiser{.momentum = 0.9, .weight_decay = 0.01}, Optimiser{.kind = nesterov, .momentum = 0.9},
        Optimiser{.kind = adam}, Optimiser{.kind = adamw, .weight_decay = 0.01}}) {
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const TrainOptions whole = options(optimiser, precision);
      const TrainedNetwork straight = train(network, data(), whole, *make_engine("cpu", {.threads = 1}));
      EXPECT_FALSE(straight.state);
      TrainOptions stopping = whole;
      std::vector<Index> stops;
      stopping.checkpoint_every = 8;
      stopping.checkpoint = [&](const TrainedNetwork& trained) {
        stops.push_back(trained.summary.steps);
        if (stops.size() == 1) save_network(path("c.h5"), trained);
      };
      const TrainedNetwork watched = train(network, data(), stopping, *make_engine("cpu", {.threads = 2}));
      EXPECT_EQ(stops, (std::vector<Index>{8, 16, 20}));
      const SavedNetwork saved = load_network(path("c.h5"));
      TrainOptions going_on = whole;
      going_on.from = &saved.trained;
      const TrainedNetwork continued = train(network, data(), going_on, *make_engine("cpu", {.threads = 3}));
      EXPECT_EQ(continued.record.steps.front(), 8);
      if (precision == Precision::f32) {
        expect_same<float>(straight, watched);
        expect_same<float>(straight, continued);
      } else {
        expect_same<double>(straight, watched);
        expect_same<double>(straight, continued);
      }
    }
  }
}

TEST_F(Checkpoint, KeepsAuxiliaryOutputsAndTheRate) {
  TrainOptions whole = options({.momentum = 0.5}, Precision::f64);
  whole.regulariser = Regulariser::aux;
  whole.loss = {LossKind::squared};
  whole.augmentation = {};
  whole.rate.reset();
  const TrainedNetwork straight = train(network, data(), whole);
  TrainOptions stopping = whole;
  stopping.checkpoint_every = 13;
  stopping.checkpoint = [&](const TrainedNetwork& trained) {
    if (trained.summary.steps == 13) save_network(path("c.h5"), trained);
  };
  (void)train(network, data(), stopping);
  const SavedNetwork saved = load_network(path("c.h5"));
  whole.from = &saved.trained;
  expect_same<double>(straight, train(network, data(), whole));
}

TEST_F(Checkpoint, GoesOnOnlyWithWhatItIsOf) {
  TrainOptions whole = options({.kind = OptimiserKind::adam}, Precision::f64);
  whole.checkpoint = [&](const TrainedNetwork& trained) { save_network(path("c.h5"), trained); };
  (void)train(network, data(), whole);
  const SavedNetwork saved = load_network(path("c.h5"));  // the final checkpoint
  whole.checkpoint = {};
  whole.from = &saved.trained;
  EXPECT_NO_THROW((void)train(network, data(), whole));
  const auto code = [&](const auto& change) {
    TrainOptions other = whole;
    change(other);
    try {
      (void)train(network, data(), other);
    } catch (const Error& error) {
      return std::optional(error.code());
    }
    return std::optional<Code>();
  };
  EXPECT_EQ(code([](auto& o) { o.seed = 6; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.width = 7; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.steps = 19; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.precision = Precision::f32; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.optimiser = {}; }), Code::usage);
  EXPECT_EQ(code([](auto& o) { o.initialisation = Initialisation::uniform; }), Code::usage);
  x_(3, 3) += 1e-9;
  EXPECT_EQ(code([](auto&) {}), Code::input);
}

// A network without a state starts a new training, here with other samples, loss and optimiser; zero steps keep its
// weights, and its own checkpoints resume bit-identically.
TEST_F(Checkpoint, FineTunesASavedNetwork) {
  save_network(path("first.h5"), train(network, data(), options({}, Precision::f64)));
  const SavedNetwork first = load_network(path("first.h5"));
  for (Index i = 0; i < 24 * 36; ++i) x_.data()[i] *= 1.5;
  TrainOptions tuning = options({.kind = OptimiserKind::adamw, .weight_decay = 0.1}, Precision::f64);
  tuning.from = &first.trained;
  tuning.regulariser = Regulariser::none;
  tuning.steps = 0;
  const TrainedNetwork still = train(network, data(), tuning);
  EXPECT_EQ(std::get<Parameters<double>>(still.parameters).slots[0].w,
            std::get<Parameters<double>>(first.trained.parameters).slots[0].w);
  tuning.steps = 10;
  tuning.rate.reset();
  const TrainedNetwork straight = train(network, data(), tuning);
  EXPECT_EQ(straight.record.steps.front(), 0);
  EXPECT_EQ(straight.summary.steps, 10);
  EXPECT_LT(straight.record.loss.back(), straight.record.loss.front());
  TrainOptions stopping = tuning;
  stopping.checkpoint_every = 4;
  stopping.checkpoint = [&](const TrainedNetwork& trained) {
    if (trained.summary.steps == 4) save_network(path("c.h5"), trained);
  };
  (void)train(network, data(), stopping);
  const SavedNetwork half = load_network(path("c.h5"));
  tuning.from = &half.trained;
  expect_same<double>(straight, train(network, data(), tuning));

  tuning.from = &first.trained;
  const auto refuses = [&](const auto& change) {
    TrainOptions other = tuning;
    change(other);
    EXPECT_THROW((void)train(network, data(), other), Error);
  };
  refuses([](auto& o) { o.seed = 6; });
  refuses([](auto& o) { o.width = 7; });
  refuses([](auto& o) { o.linearised = true; });
  refuses([](auto& o) { o.regulariser = Regulariser::output; });
}

}  // namespace
}  // namespace widelimit
