#include "widelimit/finite/layers/convolution.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/finite/training/weight_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// A convolution on two images of 7 x 6, so that groups of positions and vectors of channels are incomplete.
struct ConvolutionCase {
  Index inner;
  Index outer;
  Extent kernel;
  Extent strides;
  Padding padding;
};

template <std::floating_point T>
class Convolved {
 public:
  explicit Convolved(const ConvolutionCase& one)
      : shape_{7, 6, one.inner},
        windows_(shape_, one.kernel, one.strides, one.padding),
        slot_{.fan_in = one.kernel.rows * one.kernel.cols * one.inner,
              .fan_out = one.outer,
              .w_scale = 0.7,
              .b_scale = 0.4},
        x_(2, shape_),
        d_(2, {windows_.height(), windows_.width(), one.outer}) {
    weights_.w.resize(usize(slot_.fan_in * slot_.fan_out));
    weights_.b.resize(usize(slot_.fan_out));
    Random(1).normals(0, std::ssize(weights_.w), 1.0, weights_.w.data());
    Random(2).normals(0, slot_.fan_out, 1.0, weights_.b.data());
    Random(3).normals(0, x_.size(), 1.0, x_.data());
    Random(4).normals(0, d_.size(), 1.0, d_.data());
  }

  /// Sums of n rounded products of size about 1 in different orders differ by about n·ε.
  [[nodiscard]] double tolerance(Index terms) const {
    return 4 * static_cast<double>(terms) * static_cast<double>(std::numeric_limits<T>::epsilon());
  }

  /// Compares forward pass, signal and weight gradient with matrix products on gathered windows.
  void expect_products(const Engine& engine) const {
    Tensor<T> patches;
    windows_.gather(x_, patches, engine);
    Tensor<T> expected;
    affine(slot_, weights_, patches, expected, engine);
    Tensor<T> unused;
    Tensor<T> z;
    convolve(slot_, weights_, windows_, x_, unused, z, engine);
    expect_near(z.values(), expected.values(), tolerance(slot_.fan_in));

    Tensor<T> patch_signal;
    affine_signal(slot_, weights_, d_, patch_signal, engine);
    windows_.scatter(patch_signal, shape_, expected, engine);
    Tensor<T> back;
    convolve_signal(slot_, weights_, windows_, shape_, d_, unused, back, engine);
    expect_near(back.values(), expected.values(), tolerance(windows_.size() * slot_.fan_out));

    Matrix<T> gradient(slot_.fan_in, slot_.fan_out);
    Matrix<T> expected_gradient(slot_.fan_in, slot_.fan_out);
    add_filter_gradient(windows_, x_, d_, gradient.view(), engine);
    engine.algebra().host_product(1, Transpose::yes, std::as_const(patches).matrix(), Transpose::no, d_.matrix(), 0,
                                  expected_gradient.view());
    const auto size = usize(slot_.fan_in * slot_.fan_out);
    expect_near(std::span<const T>(gradient.data(), size), std::span<const T>(expected_gradient.data(), size),
                tolerance(d_.rows()));
  }

  /// A training step with images and windows, or with gathered windows.
  [[nodiscard]] Weights<T> stepped(bool written, const Optimiser& how, const Engine& engine) const {
    Tensor<T> patches;
    windows_.gather(x_, patches, engine);
    const GradientFactors<T> factors =
        written ? GradientFactors<T>{&patches, &d_} : GradientFactors<T>{&x_, &d_, &windows_};
    Weights<T> w = weights_;
    Weights<T> velocity{std::vector<T>(w.w.size(), T(0.1)), std::vector<T>(w.b.size(), T(0.1))};
    Weights<T> squares = velocity;
    step_slot<T>(slot_, factors,
                 {.rate = 0.01, .l2 = 0.3, .optimiser = how, .steps = 3, .velocity = &velocity, .squares = &squares},
                 engine, w);
    return w;
  }

  static void expect_near(std::span<const T> found, std::span<const T> expected, double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]), tolerance) << i;
    }
  }

 private:
  Shape shape_;
  Windows windows_;
  WeightSlot slot_;
  Weights<T> weights_;
  Tensor<T> x_;
  Tensor<T> d_;
};

const std::vector<ConvolutionCase>& convolution_cases() {
  static const std::vector<ConvolutionCase> all{
      {1, 1, {1, 1}, {1, 1}, Padding::same},       {3, 16, {3, 3}, {1, 1}, Padding::same},
      {7, 10, {3, 3}, {2, 2}, Padding::same},      {5, 33, {2, 3}, {1, 2}, Padding::valid},
      {70, 65, {3, 3}, {1, 1}, Padding::circular}, {4, 130, {5, 3}, {2, 1}, Padding::circular}};
  return all;
}

TEST(Convolution, EqualsProductsWithWhatWindowsSee) {
  for (const ConvolutionCase& one : convolution_cases()) {
    Convolved<float>(one).expect_products(all_processors());
    Convolved<double>(one).expect_products(all_processors());
  }
}

TEST(Convolution, StepsByImagesAreStepsByWindows) {
  using enum OptimiserKind;
  for (const ConvolutionCase& one : convolution_cases()) {
    const Convolved<double> layer(one);
    for (const Optimiser& how : {Optimiser{}, Optimiser{.momentum = 0.9}, Optimiser{.kind = nesterov, .momentum = 0.9},
                                 Optimiser{.kind = adam}, Optimiser{.kind = adamw, .weight_decay = 0.1}}) {
      const Weights<double> images = layer.stepped(false, how, all_processors());
      const Weights<double> windows = layer.stepped(true, how, all_processors());
      Convolved<double>::expect_near(images.w, windows.w, 1e-11);
      EXPECT_EQ(images.b, windows.b);
      const Weights<double> alone = layer.stepped(false, how, *make_engine("cpu", {.threads = 1}));
      const Weights<double> team = layer.stepped(false, how, *make_engine("cpu", {.threads = 3}));
      EXPECT_EQ(team.w, alone.w);
      Convolved<double>::expect_near(images.w, alone.w, 1e-11);
    }
  }
}

}  // namespace
}  // namespace widelimit
