#include "widelimit/data/preparation/image_layout.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/request.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

/// n samples whose value of row h, column w and channel c of sample i is 1000i + 100h + 10w + c, stored C×H×W.
Dataset channels_first_samples(Index n, const Shape& image, const Shape& as) {
  Dataset data;
  data.name = "samples";
  data.shape = as;
  Matrix<float> values(n, image.size());
  for (Index i = 0; i < n; ++i) {
    float* at = values.view().row(i);
    for (Index c = 0; c < image.channels; ++c) {
      for (Index h = 0; h < image.height; ++h) {
        for (Index w = 0; w < image.width; ++w) *at++ = static_cast<float>(1000 * i + 100 * h + 10 * w + c);
      }
    }
  }
  data.values = std::move(values);
  return data;
}

void expect_channels_last(const Dataset& data, const Shape& image) {
  ASSERT_EQ(data.shape, image);
  const auto& values = std::get<Matrix<float>>(data.values);
  for (Index i = 0; i < values.rows(); ++i) {
    const float* at = values.view().row(i);
    for (Index h = 0; h < image.height; ++h) {
      for (Index w = 0; w < image.width; ++w) {
        for (Index c = 0; c < image.channels; ++c) {
          ASSERT_EQ(*at++, static_cast<float>(1000 * i + 100 * h + 10 * w + c));
        }
      }
    }
  }
}

const Shape image{5, 4, 3};
const Shape transposed{3, 5, 4};
const Shape flat{1, 1, 60};

TEST(ImageLayout, MovesChannelsLast) {
  for (const Shape& as : {transposed, flat}) {
    Dataset data = channels_first_samples(7, image, as);
    lay_out(data, {.shape = image, .channels_first = true});
    expect_channels_last(data, image);
  }
  Dataset alone = channels_first_samples(7, image, transposed);
  lay_out(alone, {.channels_first = true});
  expect_channels_last(alone, image);
  Dataset none = channels_first_samples(0, image, transposed);
  lay_out(none, {.channels_first = true});
  EXPECT_EQ(none.shape, image);
}

TEST(ImageLayout, ShapesFlatSamplesAndLeavesImagesThatHaveTheShape) {
  Dataset data = channels_first_samples(2, {5, 12, 1}, flat);
  lay_out(data, {.shape = Shape{5, 12, 1}});
  expect_channels_last(data, {5, 12, 1});
  lay_out(data, {.shape = Shape{5, 12, 1}});
  expect_channels_last(data, {5, 12, 1});
  lay_out(data, {});
  expect_channels_last(data, {5, 12, 1});
}

template <typename Call>
void expect_refused(const Call& call, const std::string& part, const std::vector<Remedy>& remedies) {
  try {
    call();
    FAIL() << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(error.remedies(), remedies);
  }
}

TEST(ImageLayout, RefusesWhatDoesNotFit) {
  Dataset vectors = channels_first_samples(2, image, flat);
  expect_refused([&] { lay_out(vectors, {.shape = Shape{5, 5, 3}}); }, "60 values, but images of 5x5x3 have 75", {});
  expect_refused([&] { lay_out(vectors, {.channels_first = true}); }, "60 values", {Remedy::image_shape});
  Dataset images = channels_first_samples(2, image, transposed);
  expect_refused([&] { lay_out(images, {.shape = image}); }, "3x5x4, not 5x4x3", {Remedy::channels_first});
  expect_refused([&] { lay_out(images, {.shape = Shape{4, 5, 3}}); }, "3x5x4, not 4x5x3", {});
}

TEST(ImageLayout, NewSamplesAreReadAsThoseOfTheModel) {
  for (const Shape& as : {transposed, flat}) {
    Dataset data = channels_first_samples(3, image, as);
    lay_out_like(data, image, true);
    expect_channels_last(data, image);
    lay_out_like(data, image, true);  // already channels last
    expect_channels_last(data, image);
  }
  Dataset other = channels_first_samples(3, {2, 2, 2}, {1, 1, 8});
  lay_out_like(other, image, true);
  EXPECT_EQ(other.shape, (Shape{1, 1, 8}));
  Dataset vector_model = channels_first_samples(3, image, transposed);
  lay_out_like(vector_model, flat, false);
  EXPECT_EQ(vector_model.shape, transposed);
}

TEST(ImageLayout, IsAppliedToBothPartsOfARequest) {
  DataRequest request;
  request.train = "digits";
  request.split = 0.5;
  request.layout.shape = Shape{8, 8, 1};
  EXPECT_EQ(load_train_test(request).test->shape, (Shape{8, 8, 1}));
  request.layout.shape = Shape{4, 16, 1};
  EXPECT_THROW((void)load_train_test(request), Error);
}

}  // namespace
}  // namespace widelimit
