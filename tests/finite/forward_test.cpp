#include "widelimit/finite/forward.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/layers/pooling.hpp"
#include "widelimit/finite/layers/window.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {
namespace {

Architecture make(const char* text, const Shape& input, const Widths& widths = {.hidden = 4}) {
  return Architecture::make(Network::parse(text), input, widths);
}

Tensor<double> counting(Index count, const Shape& shape) {
  Tensor<double> x(count, shape);
  for (Index i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + static_cast<double>(i));
  return x;
}

Tensor<double> pooled(const Pool& layer, const Tensor<double>& x) {
  Tensor<double> y;
  pool(layer.pooling, Windows(x.shape(), layer.window, layer.strides, layer.padding), x, y, all_processors());
  return y;
}
double everywhere(const GlobalPool& layer, const Tensor<double>& x) {
  Tensor<double> y;
  global_pool(layer, x, y, all_processors());
  return y[0];
}
Tensor<double> normalised(const Tensor<double>& x) {
  Tensor<double> y;
  normalise(x, y, all_processors());
  return y;
}
Tensor<double> dropped(const Dropout& layer, Index number, const DropoutDraw& draw, const Tensor<double>& x) {
  Tensor<double> y;
  drop(layer, number, draw, x, y, all_processors());
  return y;
}

TEST(Architecture, WidthsFollowFromTheNetwork) {
  const auto plain = make("dense relu dense", {1, 1, 7}, {.hidden = 5, .outputs = 3});
  ASSERT_EQ(plain.slots.size(), 2u);
  EXPECT_EQ(plain.slots[0].fan_in, 7);
  EXPECT_EQ(plain.slots[0].fan_out, 5);
  EXPECT_EQ(plain.slots[1].fan_out, 3);
  EXPECT_TRUE(plain.ends_in_dense());

  const auto image = make("conv(w_std=2) relu flatten dense", {4, 4, 3}, {.hidden = 5});
  EXPECT_EQ(image.slots[0].fan_in, 27);
  EXPECT_DOUBLE_EQ(image.slots[0].w_scale, 2.0 / std::sqrt(27.0));
  EXPECT_EQ(image.slots[1].fan_in, 80);

  const auto open = make("dense relu", {1, 1, 7}, {.hidden = 5, .outputs = 3});
  EXPECT_EQ(open.output.channels, 5);
  EXPECT_FALSE(open.ends_in_dense());
}

TEST(Architecture, ArmsOfAResidualEndEquallyWide) {
  const auto identity = make("residual{ dense relu dense } dense", {1, 1, 7});
  EXPECT_EQ(identity.slots[0].fan_out, 4);
  EXPECT_EQ(identity.slots[1].fan_out, 7);
  const auto flattened = make("conv residual{ conv flatten | flatten } dense", {2, 3, 1});
  EXPECT_EQ(flattened.stages[1].out.channels, 24);
  EXPECT_EQ(flattened.slots[1].fan_out, 4);
  const auto nested =
      make("dense residual{ residual{ relu dense } dense | residual{ dense | dense } } dense", {1, 1, 3});
  EXPECT_EQ(nested.stages[1].out.channels, 4);
  EXPECT_THROW((void)make("residual{ conv flatten | global_avg_pool } dense", {2, 3, 1}), Error);
  EXPECT_NO_THROW((void)make("conv residual{ conv flatten | conv global_avg_pool } dense", {2, 2, 1}));
  EXPECT_THROW((void)make("residual{ flatten | global_avg_pool } dense", {2, 3, 1}), Error);
}

TEST(Architecture, RefusesWidthsThatCannotBe) {
  EXPECT_THROW((void)make("dense", {1, 1, 3}, {.hidden = 0}), Error);
  EXPECT_THROW((void)make("dense", {1, 1, 3}, {.hidden = 4, .outputs = 0}), Error);
  EXPECT_THROW((void)make("dense dense dense", {1, 1, 3}, {.hidden = Index{1} << 23}), Error);
}

TEST(Parameters, ArePureFunctionsOfSeedAndPlace) {
  const auto architecture = make("dense(b_std=1) relu dense", {1, 1, 30}, {.hidden = 400});
  const auto a = draw_parameters<double>(architecture, 9);
  const auto b = draw_parameters<double>(architecture, 9);
  const auto other = draw_parameters<double>(architecture, 10);
  EXPECT_EQ(a.slots[0].w, b.slots[0].w);
  EXPECT_NE(a.slots[0].w, other.slots[0].w);
  EXPECT_EQ(a.slots[0].b.size(), 400u);
  EXPECT_TRUE(a.slots[1].b.empty());
  EXPECT_EQ(a.slots[0].w[7], Random(9, 0).normal(7));
  const auto& w = a.slots[0].w;  // 12,000 standard normals
  const double mean = std::accumulate(w.begin(), w.end(), 0.0) / 12000;
  const double square = std::inner_product(w.begin(), w.end(), w.begin(), 0.0) / 12000;
  EXPECT_NEAR(mean, 0.0, 5 / std::sqrt(12000.0));
  EXPECT_NEAR(square, 1.0, 5 * std::sqrt(2.0 / 12000.0));
}

TEST(Forward, ConvolutionByItsDefinition) {
  // 3×2 window, stride 2 by 1, SAME: row padding 1 (0 before, 1 after), column padding 1 (0 before, 1 after).
  const auto architecture = make("conv(kernel=3x2, strides=2x1, b_std=0.5) relu flatten dense", {4, 3, 2});
  const auto parameters = draw_parameters<double>(architecture, 4);
  const Tensor<double> x = counting(3, {4, 3, 2});
  const Trace<double> trace = forward(architecture, parameters, x);
  const Tensor<double>& z = trace.values[1];
  ASSERT_EQ(z.shape(), (Shape{2, 3, 4}));
  for (Index n = 0; n < 3; ++n) {
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < 3; ++j) {
        for (Index o = 0; o < 4; ++o) {
          double sum = 0.5 * parameters.slots[0].b[static_cast<std::size_t>(o)];
          for (Index r = 0; r < 3; ++r) {
            for (Index c = 0; c < 2; ++c) {
              if (2 * i + r >= 4 || j + c >= 3) continue;
              for (Index k = 0; k < 2; ++k) {
                const auto weight = static_cast<std::size_t>(((r * 2 + c) * 2 + k) * 4 + o);
                sum += x.sample(n)[((2 * i + r) * 3 + j + c) * 2 + k] * parameters.slots[0].w[weight] / std::sqrt(12.0);
              }
            }
          }
          EXPECT_NEAR(z.sample(n)[(i * 3 + j) * 4 + o], sum, 1e-14);
        }
      }
    }
  }
}

TEST(Forward, WindowsWrapWhenCircular) {
  const Windows windows({3, 4, 1}, {3, 3}, {1, 1}, Padding::circular);
  EXPECT_EQ(windows.input(0, 0), 2 * 4 + 3);  // the upper left neighbour of the corner is the opposite corner
  EXPECT_EQ(windows.input(11, 8), 0);
  const Windows same({3, 4, 1}, {3, 3}, {1, 1}, Padding::same);
  EXPECT_EQ(same.input(0, 0), -1);
  EXPECT_EQ(same.input(0, 4), 0);
}

TEST(Forward, PoolsByHand) {
  Tensor<double> x(1, {2, 4, 1});
  for (Index i = 0; i < 8; ++i) x[i] = static_cast<double>(i * i) - 10.0;  // -10 -9 -6 -1 / 6 15 26 39
  const auto average = pooled({.pooling = Pooling::average}, x);
  EXPECT_DOUBLE_EQ(average[0], 0.5);
  EXPECT_DOUBLE_EQ(average[1], 14.5);
  EXPECT_DOUBLE_EQ(pooled({.pooling = Pooling::sum}, x)[1], 58.0);
  EXPECT_DOUBLE_EQ(pooled({.pooling = Pooling::max}, x)[0], 15.0);
  // A maximum at the edge ignores the padding; an average counts it as zeros.
  const Pool edge{.pooling = Pooling::max, .window = {1, 3}, .strides = {1, 1}, .padding = Padding::same};
  EXPECT_DOUBLE_EQ(pooled(edge, x)[0], -9.0);
  Pool mean_edge = edge;
  mean_edge.pooling = Pooling::average;
  EXPECT_DOUBLE_EQ(pooled(mean_edge, x)[0], -19.0 / 3.0);
  EXPECT_DOUBLE_EQ(everywhere({Pooling::average}, x), 60.0 / 8.0);
  EXPECT_DOUBLE_EQ(everywhere({Pooling::sum}, x), 60.0);
}

TEST(Forward, LayerNormHasMeanZeroAndVarianceOne) {
  const Tensor<double> y = normalised(counting(2, {2, 2, 9}));
  for (Index row = 0; row < y.rows(); ++row) {
    double mean = 0;
    double square = 0;
    for (Index c = 0; c < 9; ++c) {
      mean += y[row * 9 + c] / 9;
      square += y[row * 9 + c] * y[row * 9 + c] / 9;
    }
    EXPECT_NEAR(mean, 0, 1e-15);
    EXPECT_NEAR(square, 1, 1e-14);
  }
  const Tensor<double> zero = normalised(Tensor<double>(1, {1, 1, 3}));
  EXPECT_EQ(zero[0], 0.0);
}

TEST(Forward, DropoutMaskBelongsToTheSample) {
  Tensor<double> ones(40, {1, 1, 50});
  for (Index i = 0; i < ones.size(); ++i) ones[i] = 1.0;
  const Dropout layer{.rate = 0.7};
  const Tensor<double> whole = dropped(layer, 1, {3, 0}, ones);
  const Tensor<double> tail = dropped(layer, 1, {3, 1}, ones);
  double kept = 0;
  for (Index i = 0; i < 39 * 50; ++i) {
    EXPECT_EQ(whole[50 + i], tail[i]);
    EXPECT_TRUE(tail[i] == 0.0 || tail[i] == 1.0 / 0.7);
    kept += tail[i] > 0 ? 1 : 0;
  }
  EXPECT_NEAR(kept / 1950, 0.7, 5 * std::sqrt(0.21 / 1950));
  EXPECT_NE(dropped(layer, 2, {3, 0}, ones)[0] + dropped(layer, 2, {3, 0}, ones)[1] * 2 +
                dropped(layer, 2, {3, 0}, ones)[3] * 4 + dropped(layer, 2, {3, 0}, ones)[4] * 8,
            whole[0] + whole[1] * 2 + whole[3] * 4 + whole[4] * 8);
}

TEST(Forward, SamplesDoNotMeet) {
  const char* text = "conv relu residual{ conv | conv(kernel=1) } attention layer_norm relu flatten dense";
  const auto architecture = make(text, {3, 3, 2});
  const auto parameters = draw_parameters<double>(architecture, 1);
  const Tensor<double> both = counting(2, {3, 3, 2});
  Tensor<double> second(1, {3, 3, 2});
  std::copy_n(both.sample(1), 18, second.data());
  const double together = forward(architecture, parameters, both).output()[1];
  EXPECT_NEAR(together, forward(architecture, parameters, second).output()[0], 1e-13);
  EXPECT_EQ(forward(architecture, parameters, Tensor<double>(0, {3, 3, 2})).output().size(), 0);
}

TEST(Architecture, StandardFormIsTheSameFunction) {
  const char* text = "conv(w_std=1.3, b_std=0.4) relu attention flatten dense(b_std=0.2)";
  const Shape image{3, 3, 2};
  const auto scaled = make(text, image);
  const auto standard = make(text, image, {.hidden = 4, .parameterisation = Parameterisation::standard});
  EXPECT_EQ(standard.slots[0].w_scale, 1.0);
  EXPECT_DOUBLE_EQ(standard.slots[0].w_start, 1.3 / std::sqrt(18.0));
  const Tensor<double> x = counting(3, image);
  const auto a = forward(scaled, draw_parameters<double>(scaled, 6), x);
  const auto b = forward(standard, draw_parameters<double>(standard, 6), x);
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(a.output()[i], b.output()[i], 1e-13);
  EXPECT_EQ(parse_parameterisation(to_string(Parameterisation::standard)), Parameterisation::standard);
  EXPECT_THROW((void)parse_parameterisation("mup"), Error);
}

TEST(Forward, DoesNotKnowHowManyThreadsThereAre) {
  const auto architecture = make("dense erf dense relu dense", {1, 1, 90}, {.hidden = 700});
  const auto parameters = draw_parameters<float>(architecture, 5, *make_engine("cpu", {.threads = 3}));
  EXPECT_EQ(parameters.slots[1].w, draw_parameters<float>(architecture, 5).slots[1].w);
  Tensor<float> x(40, {1, 1, 90});
  for (Index i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const auto one = forward(architecture, parameters, x, {}, *make_engine("cpu", {.threads = 1}));
  const auto four = forward(architecture, parameters, x, {}, *make_engine("cpu", {.threads = 4}));
  for (Index i = 0; i < 40; ++i) EXPECT_EQ(one.output()[i], four.output()[i]);
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  Matrix<double> x(1, 3);
  std::fill_n(x.data(), 3, 1.0);
  x(0, 2) = std::numeric_limits<double>::infinity();
  const SampleView view(std::as_const(x).view(), {1, 1, 3});
  EXPECT_THROW((void)read_samples<double>(view, {1, 1, 3}), Error);
  x(0, 2) = 0.0;
  EXPECT_THROW((void)read_samples<double>(view, {1, 1, 4}), Error);
  EXPECT_EQ(read_samples<double>(view, {1, 1, 3})[1], 1.0);
  EXPECT_THROW(Tensor<double>(Index{1} << 30, {1, 1, 1 << 20}), Error);
  Tensor<double> a(1, {1, 1, 2});
  EXPECT_THROW(a += Tensor<double>(1, {1, 1, 3}), Error);
  EXPECT_THROW(a.assign(a, {1, 1, 3}), Error);
}

}  // namespace
}  // namespace widelimit
