#include "widelimit/base/types.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace widelimit {
namespace {

TEST(Shape, TextBothWays) {
  EXPECT_EQ(parse_shape("784"), (Shape{1, 1, 784}));
  EXPECT_EQ(parse_shape("28x28"), (Shape{28, 28, 1}));
  EXPECT_EQ(parse_shape("32X32x3"), (Shape{32, 32, 3}));
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{1, 1, 37}, Shape{28, 28, 1}, Shape{5, 1, 2}, Shape{1, 7, 3}}) {
    EXPECT_EQ(parse_shape(to_string(shape)), shape);
  }
}

TEST(Shape, WrongTextIsRefused) {
  for (const char* text : {"", "x", "0", "-3", "3x", "x3", "3x3x3x3", "3x3x", "3x0", "a", "3 x3", "3.5", "99999999999",
                           "1x1x99999999999999999999999", "16777216x16777216x16777216"}) {
    try {
      (void)parse_shape(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::usage);
      EXPECT_NE(std::string(error.what()).find("28x28"), std::string::npos);
    }
  }
}

TEST(Shape, Sizes) {
  const Shape image{4, 5, 3};
  EXPECT_EQ(image.positions(), 20);
  EXPECT_EQ(image.size(), 60);
  EXPECT_FALSE(image.is_vector());
  EXPECT_EQ(image.flattened(), (Shape{1, 1, 60}));
  EXPECT_TRUE(image.flattened().is_vector());
}

TEST(Precision, TextBothWays) {
  EXPECT_EQ(parse_precision(to_string(Precision::f32)), Precision::f32);
  EXPECT_EQ(parse_precision(to_string(Precision::f64)), Precision::f64);
  EXPECT_THROW((void)parse_precision("double"), Error);
}

TEST(Fail, FormatsAndCarriesItsCode) {
  try {
    fail(Code::numerical, "minor {} of {}", 3, "K");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_STREQ(error.what(), "minor 3 of K");
  }
}

TEST(Version, HasThreeNumbers) {
  const std::string text(version());
  EXPECT_EQ(std::count(text.begin(), text.end(), '.'), 2);
}

}  // namespace
}  // namespace widelimit
