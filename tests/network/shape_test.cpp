#include "widelimit/network/shape.hpp"

#include "widelimit/base/error.hpp"

#include "refusal.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

std::vector<LayerShape> shapes(std::string_view text, const Shape& input) {
  return infer_shapes(Network::parse(text), input);
}

void expect_no_shape(std::string_view text, const Shape& input, const std::vector<std::string>& parts) {
  expect_refused([&] { (void)shapes(text, input); }, text, parts);
}

// Slides the window over the axis instead of counting. VALID: every start whose window lies inside. SAME: starts at
// every stride from −before, as many as there are strides that begin inside the axis.
TEST(Windowing, AgreesWithSlidingTheWindow) {
  for (Index n = 1; n <= 37; ++n) {
    for (Index size = 1; size <= 9; ++size) {
      for (Index stride = 1; stride <= 5; ++stride) {
        Index inside = 0;
        for (Index start = 0; start + size <= n; start += stride) ++inside;
        EXPECT_EQ(windowing(n, size, stride, Padding::valid).count, inside);
        EXPECT_EQ(windowing(n, size, stride, Padding::valid).before, 0);

        Index starts = 0;
        for (Index start = 0; start < n; start += stride) ++starts;
        Index padding = 0;  // the smallest padding that fits all of these windows
        while ((starts - 1) * stride + size > n + padding) ++padding;
        for (const Padding same : {Padding::same, Padding::circular}) {
          const Windowing found = windowing(n, size, stride, same);
          EXPECT_EQ(found.count, starts) << n << ' ' << size << ' ' << stride;
          EXPECT_EQ(found.before, padding / 2) << n << ' ' << size << ' ' << stride;
        }
      }
    }
  }
  EXPECT_EQ(windowing(8, 3, 2, Padding::same).before, 0);  // JAX pads the single zero after the image
  EXPECT_EQ(windowing(8, 2, 1, Padding::same).before, 0);
}

TEST(Shape, SpatialNetworksReadImagesOthersReadThemFlattened) {
  const Shape image{28, 28, 3};
  for (const char* text : {"dense relu dense", "layer_norm dropout tanh", "residual{ dense | dense }"}) {
    EXPECT_FALSE(is_spatial(Network::parse(text)));
    EXPECT_EQ(effective_input(Network::parse(text), image), (Shape{1, 1, 28 * 28 * 3}));
  }
  for (const char* text : {"conv", "avg_pool", "sum_pool", "max_pool", "global_avg_pool", "global_sum_pool", "flatten",
                           "attention", "residual{ dense | residual{ dense | conv } }"}) {
    EXPECT_TRUE(is_spatial(Network::parse(text))) << text;
    EXPECT_EQ(effective_input(Network::parse(text), image), image);
  }
}

TEST(Shape, LayerByLayer) {
  const auto found =
      shapes("conv(strides=2x1) residual{ relu conv | conv(kernel=1) } avg_pool flatten dense", {8, 6, 3});
  const std::vector<LayerShape> expected{{"1", "conv(strides=2x1)", 4, 6}, {"2.branch.1", "relu", 4, 6},
                                         {"2.branch.2", "conv", 4, 6},     {"2.shortcut.1", "conv(kernel=1x1)", 4, 6},
                                         {"2", "residual", 4, 6},          {"3", "avg_pool", 2, 3},
                                         {"4", "flatten", 1, 1},           {"5", "dense", 1, 1}};
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].place, expected[i].place);
    EXPECT_EQ(found[i].layer, expected[i].layer);
    EXPECT_EQ(found[i].height, expected[i].height) << i;
    EXPECT_EQ(found[i].width, expected[i].width) << i;
  }
}

TEST(Shape, VectorsAreImagesOfOnePosition) {
  EXPECT_NO_THROW((void)shapes("conv relu global_avg_pool dense", {1, 2, 10}));
  EXPECT_NO_THROW((void)shapes("conv(kernel=1) relu dense", {1, 1, 10}));
  EXPECT_NO_THROW((void)shapes("dense", {28, 28, 1}));
  EXPECT_NO_THROW((void)shapes("attention dense flatten", {5, 1, 10}));
}

TEST(ShapeError, VectorsHaveNoNeighbours) {
  expect_no_shape("conv relu flatten dense", {1, 1, 784}, {"layer 1 (conv)", "784 values", "perhaps 28x28x1"});
  expect_no_shape("dense residual{ relu avg_pool | avg_pool } flatten", {1, 1, 3072},
                  {"layer 2.branch.2 (avg_pool)", "perhaps 32x32x3"});
  expect_no_shape("dense global_avg_pool dense", {1, 1, 7}, {"layer 2 (global_avg_pool)", "specify the shape"});
  expect_no_shape("attention flatten dense", {1, 1, 10}, {"layer 1 (attention)"});
  EXPECT_NO_THROW((void)shapes("flatten dense relu dense", {1, 1, 784}));
  try {
    (void)shapes("conv flatten dense", {1, 1, 4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.remedies(), std::vector<Remedy>{Remedy::image_shape});
  }
}

TEST(Layout, ImagesThatLookTransposedAreDoubted) {
  const Network conv = Network::parse("conv relu flatten dense");
  for (const Shape& ambiguous : {Shape{3, 32, 32}, Shape{1, 28, 28}, Shape{3, 48, 64}, Shape{4, 8, 8}}) {
    const std::string warning = layout_warning(conv, ambiguous);
    EXPECT_NE(warning.find(to_string(Shape{ambiguous.width, ambiguous.channels, ambiguous.height})), std::string::npos)
        << to_string(ambiguous) << warning;
    EXPECT_EQ(layout_warning(Network::parse("flatten dense relu dense"), ambiguous), "");
    EXPECT_EQ(layout_warning(Network::parse("conv(kernel=1) flatten dense"), ambiguous), "");
  }
  for (const Shape& plausible : {Shape{32, 32, 3}, Shape{28, 28, 1}, Shape{1, 128, 16}, Shape{3, 3, 3}, Shape{2, 2, 2},
                                 Shape{8, 8, 8}, Shape{3, 5, 4}, Shape{1, 1, 784}}) {
    EXPECT_EQ(layout_warning(conv, plausible), "") << to_string(plausible);
  }
}

TEST(ShapeError, NamesTheLayerItsPlaceAndTheCure) {
  expect_no_shape("conv relu dense", {8, 8, 3},
                  {"network ends with 8x8 positions at layer 3 (dense)", "add flatten or global_avg_pool"});
  expect_no_shape("conv avg_pool(window=9) flatten dense", {8, 8, 3}, {"layer 2 (avg_pool(window=9x9))", "9x9", "8x8"});
  expect_no_shape("conv(kernel=1x9, padding=VALID) flatten", {9, 8, 1}, {"layer 1", "1x9 window", "9x8"});
  expect_no_shape("residual{ relu residual{ conv(strides=2) } } flatten", {8, 8, 1},
                  {"layer 1.branch.2 (residual)", "4x4", "8x8", "identity"});
  expect_no_shape("residual{ conv | conv(strides=2) } flatten", {8, 8, 1}, {"shortcut", "8x8", "4x4"});
  expect_no_shape("dense", {0, 1, 1}, {"at least 1"});
  EXPECT_THROW((void)infer_shapes(Network{}, {1, 1, 10}), Error);
  EXPECT_THROW((void)infer_shapes(Network{{Conv{.strides = {0, 0}}}}, {8, 8, 1}), Error);
}

}  // namespace
}  // namespace widelimit
