#include "../data/fixture.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/forward.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

std::vector<Index> channels(const std::vector<Stage>& stages) {
  std::vector<Index> found;
  for (const Stage& stage : stages) found.push_back(stage.out.channels);
  return found;
}

// Values in [−a, a]: all within, some within 1 % of the ends, and a standard deviation of a/√3 to 5 standard errors
// (0.45/√n of it) of 20,000 values.
void expect_uniform(const Values<double>& values, double bound) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GT(*least, -bound);
  EXPECT_LT(*most, bound);
  EXPECT_LT(*least, -0.99 * bound);
  EXPECT_GT(*most, 0.99 * bound);
  double squares = 0;
  for (const double value : values) squares += value * value;
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(values.size())), bound / std::sqrt(3.0), 0.016 * bound);
}

TEST(Initialisation, HasItsInterval) {
  const Network network = Network::parse("dense(w_std=1.5, b_std=0.3) relu dense(b_std=0.3)");
  const auto drawn = [&](const Widths& widths) {
    return draw_parameters<double>(Architecture::make(network, {1, 1, 200}, widths), 2);
  };
  const Widths wide{.hidden = 100, .outputs = 1};
  Widths uniform = wide;
  uniform.initialisation = Initialisation::uniform;
  expect_uniform(drawn(uniform).slots[0].w, std::sqrt(3.0));
  uniform.parameterisation = Parameterisation::standard;
  expect_uniform(drawn(uniform).slots[0].w, 1.5 * std::sqrt(3.0 / 200));
  Widths pytorch = uniform;
  pytorch.initialisation = Initialisation::pytorch;
  expect_uniform(drawn(pytorch).slots[0].w, 1 / std::sqrt(200.0));
  const Parameters<double> started = drawn(pytorch);
  for (const double b : started.slots[0].b) EXPECT_LT(std::abs(b), 1 / std::sqrt(200.0));
  for (const double w : started.slots[1].w) EXPECT_LT(std::abs(w), 0.1);
  pytorch.parameterisation = Parameterisation::ntk;
  EXPECT_THROW((void)drawn(pytorch), Error);
  for (const auto each : {Initialisation::normal, Initialisation::uniform, Initialisation::pytorch}) {
    EXPECT_EQ(parse_initialisation(to_string(each)), each);
  }
}

TEST(LayerWidths, AreThoseAskedFor) {
  const auto made = [](const char* text, std::vector<Index> layers) {
    return Architecture::make(Network::parse(text), {8, 8, 3},
                              {.hidden = 5, .outputs = 2, .layers = std::move(layers)});
  };
  const char* cnn = "conv relu avg_pool conv relu flatten dense relu dense";
  EXPECT_EQ(channels(made(cnn, {4, 6, 9}).stages), (std::vector<Index>{4, 4, 4, 6, 6, 96, 9, 9, 2}));
  EXPECT_EQ(channels(made(cnn, {}).stages), (std::vector<Index>{5, 5, 5, 5, 5, 80, 5, 5, 2}));
  // The identity determines the width of the branch; a shortcut with a free width must have the same.
  const char* identity = "conv residual{ relu conv relu conv } global_avg_pool dense";
  const Architecture kept = made(identity, {4, 7, 4});
  EXPECT_EQ(channels(kept.stages[1].branch), (std::vector<Index>{4, 7, 7, 4}));
  EXPECT_THROW((void)made(identity, {4, 7, 5}), Error);
  const char* wider = "conv residual{ relu conv | conv(kernel=1) } global_avg_pool dense";
  EXPECT_EQ(channels(made(wider, {4, 6, 6}).stages), (std::vector<Index>{4, 6, 6, 2}));
  EXPECT_THROW((void)made(wider, {4, 6, 7}), Error);
  EXPECT_THROW((void)made(cnn, {4, 6}), Error);
  EXPECT_THROW((void)made(cnn, {4, 6, 0}), Error);
}

/// Every weight of a residual network with three widths after one step: w₀ − rate·∇, with finite-difference gradients.
TEST(LayerWidths, GradientsAreThoseOfTheLoss) {
  Matrix<double> x(6, 48);
  Random(9).normals(0, 6 * 48, 1.0, x.data());
  Matrix<double> y(6, 3);
  for (Index i = 0; i < 6; ++i) y(i, i % 3) = 1;
  const TrainData data{SampleView(x.view(), {4, 4, 3}), y.view()};
  const Network network = Network::parse(
      "conv(b_std=0.1) residual{ erf conv(b_std=0.1) | conv(kernel=1) } erf global_avg_pool dense(b_std=0.1)");
  for (const auto initialisation : {Initialisation::normal, Initialisation::uniform, Initialisation::pytorch}) {
    const double rate = 1e-3;
    const TrainOptions options{.layer_widths = {3, 4, 4},
                               .parameterisation = Parameterisation::standard,
                               .initialisation = initialisation,
                               .loss = {LossKind::softmax},
                               .regulariser = Regulariser::none,
                               .rate = rate,
                               .steps = 1};
    const TrainedNetwork trained = train(network, data, options);
    const auto& start = std::get<Parameters<double>>(trained.start);
    const auto& end = std::get<Parameters<double>>(trained.parameters);
    const auto samples = read_samples<double>(data.x, {4, 4, 3});
    const auto check = [&](std::size_t l, Values<double> Weights<double>::*part, std::size_t at) {
      const auto loss = [&](double change) {
        Parameters<double> moved = start;
        (moved.slots[l].*part)[at] += change;
        const auto trace = forward(trained.architecture, moved, samples);
        double sum = 0;
        for (Index i = 0; i < 6; ++i) {
          const std::vector<double> z(trace.output().sample(i), trace.output().sample(i) + 3);
          sum += loss_value(options.loss, z, {y.view().row(i), 3});
        }
        return sum;
      };
      // Central differences with h = 1e-5: h²·f''' is about 1e-10, rounding 1e-16·10/1e-5.
      const double slope = (loss(1e-5) - loss(-1e-5)) / 2e-5;
      EXPECT_NEAR(((end.slots[l].*part)[at] - (start.slots[l].*part)[at]) / -rate, slope, 1e-8);
    };
    for (std::size_t l = 0; l < start.slots.size(); ++l) {
      for (const std::size_t at : {std::size_t{0}, start.slots[l].w.size() / 2, start.slots[l].w.size() - 1}) {
        check(l, &Weights<double>::w, at);
      }
      if (!start.slots[l].b.empty()) check(l, &Weights<double>::b, 1);
    }
  }
}

class LayerWidthsFile : public Folder {};

TEST_F(LayerWidthsFile, RemembersThemAndTheStart) {
  Matrix<double> x(5, 4);
  Random(1).normals(0, 20, 1.0, x.data());
  const Matrix<double> y(5, 1);
  const TrainedNetwork trained =
      train(Network::parse("dense(b_std=1) relu dense relu dense"), {SampleView(x.view(), {1, 1, 4}), y.view()},
            {.layer_widths = {6, 3},
             .parameterisation = Parameterisation::standard,
             .initialisation = Initialisation::pytorch,
             .steps = 3});
  save_network(path("n.h5"), trained);
  const SavedNetwork saved = load_network(path("n.h5"));
  EXPECT_EQ(saved.trained.widths, trained.widths);
  EXPECT_EQ(std::get<Parameters<double>>(saved.trained.start).slots[1].w,
            std::get<Parameters<double>>(trained.start).slots[1].w);
}

}  // namespace
}  // namespace widelimit
