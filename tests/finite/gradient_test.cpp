#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/tangent/tangent.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

namespace widelimit {
namespace {

struct Case {
  const char* network;
  Shape input;
};
void PrintTo(const Case& where, std::ostream* out) { *out << where.network; }

/// Every layer and activation, each with trained layers before and after it.
const std::vector<Case>& cases() {
  static const Shape vector{1, 1, 5};
  static const Shape image{5, 6, 2};
  static const std::vector<Case> list{
      {"dense", vector},
      {"dense(w_std=1.4, b_std=0.3) relu dense(b_std=0.2)", vector},
      {"dense leaky_relu(slope=0.2) dense abs dense", vector},
      {"dense erf dense gelu dense", vector},
      {"dense sin dense cos dense", vector},
      {"dense exp dense gaussian dense", vector},
      {"dense rbf(gamma=0.5) dense monomial(degree=3) dense", vector},
      {"dense rectified_monomial(degree=2) dense hermite(degree=3) dense", vector},
      {"dense polynomial(coef=[0.1, 0.5, 0.2]) dense identity dense", vector},
      {"dense tanh dense sigmoid dense swish dense softplus dense", vector},
      {"dense custom(name=finite_cubic) dense", vector},
      {"dense layer_norm erf dense", vector},
      {"dense residual{ erf dense scale(by=-0.7) } erf scale(by=2) dense", vector},
      {"dense erf dropout(rate=0.6) dense erf dropout(rate=0.7) dense", vector},
      {"dense residual{ erf dense } residual{ erf dense | dense } dense", vector},
      {"dense residual{ erf | dense } residual{ erf } dense", vector},
      {"conv(b_std=0.2) erf conv flatten dense(b_std=0.1)", image},
      {"conv(strides=2) erf conv(strides=2, kernel=2x3) flatten dense", image},
      {"conv(padding=VALID) erf conv(padding=VALID, strides=2) flatten dense", image},
      {"conv(padding=CIRCULAR) erf conv(padding=CIRCULAR, strides=2) global_avg_pool dense", image},
      {"conv erf avg_pool conv erf global_sum_pool dense", image},
      {"conv erf sum_pool(window=3x2, strides=1, padding=SAME) flatten dense", image},
      {"conv erf max_pool flatten dense", image},
      {"conv erf max_pool(window=3, strides=2, padding=SAME) avg_pool(padding=CIRCULAR) flatten dense", image},
      {"conv erf dense layer_norm erf global_avg_pool dense", image},
      {"conv erf attention erf global_avg_pool dense", image},
      {"conv erf residual{ erf conv(strides=2) | conv(kernel=1, strides=2) } dropout flatten dense", image},
      {"conv residual{ erf conv flatten dense | flatten } dense", image},
      {"conv erf global_avg_pool", image},
      {"dense(frozen=true) erf dense(b_std=0.2) erf dense(b_std=0.1, frozen=true)", vector},
      {"dense(b_std=0.2) erf dense(frozen=true) layer_norm dense", vector},
      {"dense(frozen=true) residual{ erf dense(frozen=true) | dense } residual{ erf dense } dense(frozen=true)",
       vector},
      {"dense(frozen=true) residual{ erf | dense(frozen=true) } erf dense", vector},
      {"conv(frozen=true) erf conv(b_std=0.3) erf conv(b_std=0.1, frozen=true) flatten dense", image},
      {"conv erf attention(frozen=true) erf global_avg_pool dense(frozen=true)", image},
      {"conv(frozen=true) erf attention erf global_avg_pool dense(frozen=true)", image},
      {"conv(frozen=true) erf flatten dense(b_std=0.1, frozen=true)", image},
  };
  return list;
}

Tensor<double> random_input(Index count, const Shape& shape, std::uint64_t seed) {
  const Random random(seed, 77);
  Tensor<double> x(count, shape);
  for (Index i = 0; i < x.size(); ++i) x[i] = random.normal(static_cast<std::uint64_t>(i));
  return x;
}

class FiniteGradient : public ::testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    register_activation("finite_cubic", [](std::span<const double> from, std::span<double> to) {
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] + 0.1 * from[i] * from[i] * from[i];
    });
  }

  Case where = GetParam();
  Architecture architecture = Architecture::make(Network::parse(where.network), where.input, {.hidden = 4});
  Parameters<double> parameters = draw_parameters<double>(architecture, 11);
  PassOptions masks{.dropout = DropoutDraw{5, 2}};
  Tensor<double> x = random_input(2, architecture.input, 3);

  /// Output 0 of each sample.
  std::vector<double> outputs() const {
    const Trace<double> trace = forward(architecture, parameters, x, masks);
    return {trace.output().sample(0)[0], trace.output().sample(1)[0]};
  }

  Gradient<double> gradient(Trace<double>& trace) const {
    trace = forward(architecture, parameters, x, masks);
    Tensor<double> signal(x.count(), architecture.output);
    for (Index i = 0; i < x.count(); ++i) signal.sample(i)[0] = 1.0;
    return backward(architecture, parameters, trace, signal, masks);
  }

  /// Derivative by one value of x or of the weights, accessed anew before each change, since an engine may cache a
  /// copy.
  template <typename Numbers>
  std::vector<double> difference(Numbers& numbers, Index which) {
    constexpr double step = 1e-5;
    const auto variable = [&]() -> double& { return numbers.data()[which]; };
    const double centre = variable();
    variable() = centre + step;
    auto above = outputs();
    variable() = centre - step;
    const auto below = outputs();
    variable() = centre;
    for (std::size_t i = 0; i < above.size(); ++i) above[i] = (above[i] - below[i]) / (2 * step);
    return above;
  }
};

// Central differences: step² times a third derivative, plus eps/step.
constexpr double tolerance = 2e-8;

TEST_P(FiniteGradient, OfTheInput) {
  Trace<double> trace;
  const Gradient<double> g = gradient(trace);
  for (Index i = 0; i < x.size(); ++i) {
    const auto slope = difference(x, i);
    const auto owner = static_cast<std::size_t>(i / x.shape().size());
    EXPECT_NEAR(g.input()[i], slope[owner], tolerance * (1 + std::abs(slope[owner]))) << i;
    EXPECT_EQ(slope[1 - owner], 0.0);
  }
}

TEST_P(FiniteGradient, OfTheWeightsAndTheirKernel) {
  Trace<double> trace;
  const Gradient<double> g = gradient(trace);
  std::array<double, 4> jacobian_products{};
  const auto check = [&](Values<double>& weights, Index i, const std::array<double, 2>& expected, std::size_t l) {
    const auto slope = difference(weights, i);
    for (std::size_t s = 0; s < 2; ++s) {
      ASSERT_NEAR(expected[s], slope[s], tolerance * (1 + std::abs(slope[s]))) << "slot " << l;
      for (std::size_t t = 0; t < 2; ++t) jacobian_products[2 * s + t] += slope[s] * slope[t];
    }
  };
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    const WeightSlot& slot = architecture.slots[l];
    EXPECT_EQ(g.slots[l].d != nullptr, slot.trained);
    if (!slot.trained) continue;
    const Index positions = g.slots[l].d->shape().positions();
    for (Index o = 0; o < slot.fan_out; ++o) {
      for (Index i = 0; i < slot.fan_in; ++i) {
        std::array<double, 2> expected{};
        for (Index s = 0; s < 2; ++s) {
          for (Index p = 0; p < positions; ++p) {
            expected[static_cast<std::size_t>(s)] += slot.w_scale * g.slots[l].a->sample(s)[p * slot.fan_in + i] *
                                                     g.slots[l].d->sample(s)[p * slot.fan_out + o];
          }
        }
        check(parameters.slots[l].w, i * slot.fan_out + o, expected, l);
      }
      if (slot.b_scale == 0.0) continue;
      std::array<double, 2> expected{};
      for (Index s = 0; s < 2; ++s) {
        for (Index p = 0; p < positions; ++p) {
          expected[static_cast<std::size_t>(s)] += slot.b_scale * g.slots[l].d->sample(s)[p * slot.fan_out + o];
        }
      }
      check(parameters.slots[l].b, o, expected, l);
    }
  }
  const Matrix<double> half = empirical_ntk(architecture, g);
  Trace<double> second;
  const Gradient<double> again = gradient(second);
  const Matrix<double> full = empirical_ntk(architecture, g, again);
  EXPECT_EQ(half(0, 1), half(1, 0));
  for (Index i = 0; i < 4; ++i) {
    const double expected = jacobian_products[static_cast<std::size_t>(i)];
    EXPECT_NEAR(half.data()[i], expected, 1e-6 * (1 + half(0, 0) + half(1, 1)));
    EXPECT_NEAR(half.data()[i], full.data()[i], 1e-13 * (1 + half(0, 0) + half(1, 1)));
  }
}

// The derivative of the output along a direction of the weights: tangent pass against backward pass.
TEST_P(FiniteGradient, IsTheTransposeOfTheTangent) {
  Trace<double> trace;
  const Gradient<double> g = gradient(trace);
  const Parameters<double> direction = draw_parameters<double>(architecture, 12);
  Trace<double> changes;
  tangent(architecture, parameters, direction, trace, masks, all_processors(), changes);
  for (Index s = 0; s < x.count(); ++s) {
    double expected = 0;
    double size = 1;
    for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
      const WeightSlot& slot = architecture.slots[l];
      if (!slot.trained) continue;
      const auto add = [&](double term) {
        expected += term;
        size += std::abs(term);
      };
      for (Index p = 0; p < g.slots[l].d->shape().positions(); ++p) {
        const double* a = g.slots[l].a->sample(s) + p * slot.fan_in;
        const double* d = g.slots[l].d->sample(s) + p * slot.fan_out;
        for (Index o = 0; o < slot.fan_out; ++o) {
          for (Index i = 0; i < slot.fan_in; ++i) {
            add(slot.w_scale * a[i] * d[o] * direction.slots[l].w[static_cast<std::size_t>(i * slot.fan_out + o)]);
          }
          if (slot.biased()) add(slot.b_scale * d[o] * direction.slots[l].b[static_cast<std::size_t>(o)]);
        }
      }
    }
    EXPECT_NEAR(changes.output().sample(s)[0], expected, tolerance * size);
  }
}

/// Reconstructs the gradient from the first step of an optimiser, which changed a weight by `change`.
double gradient_of(const Optimiser& how, double change, double rate) {
  const double step = -change / rate;
  if (how.adaptive()) return step * how.epsilon / (1 - std::abs(step));  // step = g/(|g| + ε)
  return how.kind == OptimiserKind::nesterov ? step / (1 + how.momentum) : step;
}

// The first step of every optimiser, in both parameterisations and for every loss, against the difference of the
// objective along a random direction r. For ε = 1e-5 the error is ε²‖r‖³ ≈ 1e-7 times a third derivative.
TEST_P(FiniteGradient, StepsFollowEveryLoss) {
  using enum OptimiserKind;
  if (architecture.dropouts > 0 || !architecture.trains()) return;
  const Matrix<double> samples = [&] {
    Matrix<double> rows(x.count(), x.shape().size());
    std::copy_n(x.data(), x.size(), rows.data());
    return rows;
  }();
  constexpr double rate = 0.01;
  constexpr double reach = 1e-5;
  for (const Parameterisation form : {Parameterisation::ntk, Parameterisation::standard}) {
    const auto net = Architecture::make(Network::parse(where.network), where.input,
                                        {.hidden = 4, .outputs = 3, .parameterisation = form});
    for (const LossKind kind : {LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive,
                                LossKind::logistic, LossKind::softmax}) {
      const Loss loss{kind};
      const Matrix<double> y = class_targets(std::vector<Index>{0, 2}, net.output.size(), loss);
      const auto objective = [&](const Parameters<double>& w) {
        const Trace<double> trace = forward(net, w, x);
        double sum = 0;
        for (Index i = 0; i < x.count(); ++i) {
          const auto size = usize(net.output.size());
          sum += loss_value(loss, {trace.output().sample(i), size}, {y.view().row(i), size});
        }
        return sum;
      };
      const Parameters<double> start = draw_parameters<double>(net, 11);
      const Parameters<double> direction = draw_parameters<double>(net, 12);
      const auto moved = [&](double by) {
        Parameters<double> w = start;
        for (std::size_t l = 0; l < w.slots.size(); ++l) {
          if (!net.slots[l].trained) continue;
          for (std::size_t i = 0; i < w.slots[l].w.size(); ++i) w.slots[l].w[i] += by * direction.slots[l].w[i];
          for (std::size_t i = 0; i < w.slots[l].b.size(); ++i) w.slots[l].b[i] += by * direction.slots[l].b[i];
        }
        return w;
      };
      const double slope = (objective(moved(reach)) - objective(moved(-reach))) / (2 * reach);
      for (const Optimiser& how :
           {Optimiser{}, Optimiser{.momentum = 0.9}, Optimiser{.kind = nesterov, .momentum = 0.7},
            Optimiser{.kind = adam, .epsilon = 1e3}, Optimiser{.kind = adamw, .epsilon = 1e3}}) {
        const TrainedNetwork trained =
            train(Network::parse(where.network), {SampleView(samples.view(), where.input), y.view()},
                  {.width = 4,
                   .parameterisation = form,
                   .loss = loss,
                   .rate = rate,
                   .steps = 1,
                   .optimiser = how,
                   .seed = 11,
                   .keep_record = false});
        const auto& after = std::get<Parameters<double>>(trained.parameters);
        double expected = 0;
        double size = 1 + std::abs(objective(start));
        const auto add = [&](const Values<double>& from, const Values<double>& to, const Values<double>& r) {
          for (std::size_t i = 0; i < from.size(); ++i) {
            const double term = gradient_of(how, to[i] - from[i], rate) * r[i];
            expected += term;
            size += std::abs(term);
          }
        };
        for (std::size_t l = 0; l < after.slots.size(); ++l) {
          add(start.slots[l].w, after.slots[l].w, direction.slots[l].w);
          add(start.slots[l].b, after.slots[l].b, direction.slots[l].b);
        }
        EXPECT_NEAR(expected, slope, 1e-5 * size)
            << to_string(form) << " " << to_string(kind) << " " << to_string(how.kind);
      }
    }
  }
}

// A pass that reuses the memory of one with more samples, in single precision.
TEST_P(FiniteGradient, InSinglePrecisionAndUsedMemory) {
  const Parameters<float> single = draw_parameters<float>(architecture, 11);
  const auto narrow = [&](const Tensor<double>& wide) {
    Tensor<float> result(wide.count(), wide.shape());
    for (Index i = 0; i < wide.size(); ++i) result[i] = static_cast<float>(wide[i]);
    return result;
  };
  Trace<float> trace;
  Gradient<float> g;
  for (const Index count : {3, 2}) {
    trace.input() = narrow(random_input(count, architecture.input, 3));
    forward(architecture, single, masks, all_processors(), trace);
    Tensor<float>& signal = g.output_signal(architecture);
    signal.resize(count, architecture.output);
    signal.clear();
    for (Index i = 0; i < count; ++i) signal.sample(i)[0] = 1.0F;
    backward(architecture, single, trace, masks, all_processors(), g);
  }
  Trace<double> wide_trace;
  const Gradient<double> wide = gradient(wide_trace);
  const double kinks = 2e-4;  // a few hundred roundings of 6e-8, amplified by cubes and exponentials
  for (Index i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(g.input()[i]), wide.input()[i], kinks * (1 + std::abs(wide.input()[i]))) << i;
  }
  const Matrix<float> kernel = empirical_ntk(architecture, g);
  const Matrix<double> expected = empirical_ntk(architecture, wide);
  for (Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(static_cast<double>(kernel.data()[i]), expected.data()[i],
                kinks * (1 + expected(0, 0) + expected(1, 1)));
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, FiniteGradient, ::testing::ValuesIn(cases()));

TEST(EmpiricalNtk, OfNoSamples) {
  const auto architecture = Architecture::make(Network::parse("dense relu dense"), {1, 1, 3}, {.hidden = 4});
  const auto parameters = draw_parameters<double>(architecture, 0);
  const Tensor<double> none(0, {1, 1, 3});
  const Tensor<double> two = random_input(2, {1, 1, 3}, 1);
  EXPECT_EQ(empirical_ntk(architecture, parameters, none, none).rows(), 0);
  EXPECT_EQ(empirical_ntk(architecture, parameters, two, none).cols(), 0);
  EXPECT_GT(empirical_ntk(architecture, parameters, two, two)(0, 0), 0.0);
}

}  // namespace
}  // namespace widelimit
