#include "widelimit/finite/training/augmentation.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace widelimit {
namespace {

/// Pixel (i, j) of every image is 10·i + j + 1; channel 1 is the negative of channel 0.
Tensor<float> numbered(Index count) {
  Tensor<float> images(count, {5, 4, 2});
  for (Index n = 0; n < count; ++n) {
    for (Index p = 0; p < 20; ++p) {
      const Index row = p / 4;
      images.sample(n)[2 * p] = static_cast<float>(10 * row + p % 4 + 1);
      images.sample(n)[2 * p + 1] = -images.sample(n)[2 * p];
    }
  }
  return images;
}

/// The image after a flip and a translation, by definition.
std::vector<float> moved(bool flip, Index down, Index right) {
  std::vector<float> image;
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const Index row = i - down;
      const Index col = j - right;
      const bool inside = row >= 0 && row < 5 && col >= 0 && col < 4;
      const float value = inside ? static_cast<float>(10 * row + (flip ? 3 - col : col) + 1) : 0.0F;
      image.insert(image.end(), {value, -value});
    }
  }
  return image;
}

TEST(Augmentation, FlipsAndMovesEveryWayAboutEquallyOften) {
  const Augmentation how{.flip = true, .crop = 1};
  constexpr Index count = 3600;
  Tensor<float> images = numbered(count);
  augment(how, 3, 7, images, all_processors());
  std::array<Index, 18> counts{};
  for (Index n = 0; n < count; ++n) {
    const std::vector<float> image(images.sample(n), images.sample(n) + 40);
    std::size_t found = 18;
    for (std::size_t k = 0; k < 18; ++k) {
      if (image == moved(k % 2 == 1, static_cast<Index>(k / 6) - 1, static_cast<Index>(k / 2 % 3) - 1)) found = k;
    }
    ASSERT_LT(found, 18U);
    ++counts[found];
  }
  for (const Index times : counts)
    EXPECT_NEAR(static_cast<double>(times), 200, 70);  // five standard deviations of √200
}

TEST(Augmentation, DependsOnSeedStepAndPlaceAlone) {
  const Augmentation how{.flip = true, .crop = 2};
  const auto made = [&](std::uint64_t seed, Index step, int threads) {
    Tensor<float> images = numbered(8000);
    augment(how, seed, step, images, *make_engine("cpu", {.threads = threads}));
    return std::vector<float>(images.values().begin(), images.values().end());
  };
  const auto one = made(1, 4, 1);
  EXPECT_EQ(one, made(1, 4, 3));
  EXPECT_NE(one, made(1, 5, 1));
  EXPECT_NE(one, made(2, 4, 1));
}

TEST(Augmentation, IsOfImages) {
  const Matrix<double> x(4, 16);
  const Matrix<double> y(4, 1);
  const Network network = Network::parse("conv relu flatten dense");
  const TrainOptions options{.width = 3, .steps = 2, .augmentation = {.flip = true}};
  EXPECT_NO_THROW((void)train(network, {SampleView(x.view(), {4, 4, 1}), y.view()}, options));
  const auto code = [&](const Network& net, const TrainOptions& how) {
    try {
      (void)train(net, {SampleView(x.view(), {1, 1, 16}), y.view()}, how);
    } catch (const Error& error) {
      return std::optional(error.code());
    }
    return std::optional<Code>();
  };
  EXPECT_EQ(code(Network::parse("fc:1"), options), Code::usage);
  EXPECT_EQ(code(network, {.steps = 1, .augmentation = {.crop = -1}}), Code::usage);
  EXPECT_EQ(code(network, {.steps = 1, .augmentation = {.crop = 1}, .centred = true}), Code::usage);
  EXPECT_EQ(code(network, {.augmentation = {.crop = 1}, .flow_time = 1}), Code::usage);
}

}  // namespace
}  // namespace widelimit
