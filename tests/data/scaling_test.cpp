#include "widelimit/data/preparation/scaling.hpp"

#include "fixture.hpp"

#include <cmath>

namespace widelimit {
namespace {

void scale(Scaling scaling, Dataset& data) { Scaler(scaling, data).apply(data); }

Dataset data_of(SparseMatrix rows) {
  Dataset data;
  data.name = "rows";
  data.shape = {1, 1, rows.cols()};
  data.values = std::move(rows);
  return data;
}

TEST(ScalingTest, NamesRoundTrip) {
  for (const char* name : {"none", "unit", "standard", "minmax", "maxabs", "byte", "channel"}) {
    EXPECT_EQ(to_string(parse_scaling(name)), name);
  }
  expect_error(Code::usage, {"max", "minmax"}, [] { (void)parse_scaling("max"); });
}

TEST(ScalingTest, MaxabsKeepsZeros) {
  Dataset data = table({{-4, 0, 0}, {2, 0, 1e-200}, {0, 0, 0}});
  Dataset sparse = data_of(SparseMatrix(3, {0, 1, 3, 3}, {0, 0, 2}, {-4, 2, 1e-200}));
  const Scaler scaler(Scaling::maxabs, data);
  const Scaler same(Scaling::maxabs, sparse);
  EXPECT_EQ(scaler.scale(), (std::vector<double>{4, 1, 1e-200}));
  EXPECT_EQ(same.scale(), scaler.scale());
  scaler.apply(data);
  scaler.apply(sparse);
  EXPECT_EQ(value(data, 0, 0), -1);
  EXPECT_EQ(value(data, 1, 2), 1);
  EXPECT_EQ(value(data, 2, 0), 0);
  const SparseView rows = *sparse.view().sparse();
  EXPECT_EQ(rows.stored(), 3);
  EXPECT_EQ(rows.row(1).values[0], 0.5);
}

TEST(ScalingTest, SparseSamplesAreNotShifted) {
  const auto make = [] { return data_of(SparseMatrix(3, {0, 1, 3}, {0, 0, 2}, {-4, 3, 4})); };
  for (const Scaling shifting : {Scaling::standard, Scaling::minmax, Scaling::channel}) {
    expect_error(Code::input, {"sparse", "zero", "maxabs", "unit"}, [&] { Scaler(shifting, make()); });
  }
  Dataset data = make();
  expect_error(Code::input, {"sparse", "maxabs"}, [&] { Scaler(Scaling::standard, {1, 0, 0}, {1, 1, 1}).apply(data); });
  scale(Scaling::unit, data);
  EXPECT_EQ(data.view().sparse()->row(1).values[1], 0.8);
  data = make();
  scale(Scaling::byte, data);
  EXPECT_EQ(data.view().sparse()->row(0).values[0], -4.0 / 255);
}

TEST(ScalingTest, UnitRowsAtEveryMagnitude) {
  for (const double size : {1.0, 1e150, 1e-150, 1e308, 5e-324}) {
    Dataset data = table({{3 * size, -3 * size, 0}, {0, 0, 0}, {-size, 0, 0}});
    if (!std::isfinite(3 * size)) data = table({{size, -size, 0}, {0, 0, 0}, {-size, 0, 0}});
    scale(Scaling::unit, data);
    EXPECT_NEAR(value(data, 0, 0), std::sqrt(0.5), 4e-16) << size;
    EXPECT_NEAR(value(data, 0, 1), -std::sqrt(0.5), 4e-16) << size;
    EXPECT_EQ(value(data, 1, 0), 0) << size;
    EXPECT_EQ(value(data, 2, 0), -1) << size;
  }
}

TEST(ScalingTest, StandardColumns) {
  for (const double size : {1.0, 1e150, 1e-150, 1e300}) {
    Dataset data = table({{1 * size, 0.1, 7}, {2 * size, 0.1, 7}, {6 * size, 0.1, 7}});
    const Scaler scaler(Scaling::standard, data);
    scaler.apply(data);
    const double deviation = std::sqrt(14.0 / 3);  // of 1, 2, 6: mean 3, squares 4 + 1 + 9
    EXPECT_NEAR(value(data, 0, 0), -2 / deviation, 1e-15) << size;
    EXPECT_NEAR(value(data, 2, 0), 3 / deviation, 1e-15) << size;
    for (Index i = 0; i < 3; ++i) {
      EXPECT_EQ(value(data, i, 1), 0);
      EXPECT_EQ(value(data, i, 2), 0);
    }
    Dataset test = table({{3 * size, 0.1, 9}});
    scaler.apply(test);
    EXPECT_NEAR(value(test, 0, 0), 0, 1e-15);
    EXPECT_EQ(value(test, 0, 2), 2);  // a constant column is only shifted
  }
}

/// Compares with the moments of each channel by definition; a constant channel is only shifted.
TEST(ScalingTest, ChannelsOfImages) {
  constexpr Index positions = 6;
  const auto pixel = [](Index i, Index j) { return j % 3 == 2 ? 7 : (5 * i + 3 * j) % 11 + 100 * (j % 3); };
  Matrix<float> images(4, positions * 3);
  for (Index i = 0; i < images.rows(); ++i) {
    for (Index j = 0; j < images.cols(); ++j) images(i, j) = static_cast<float>(pixel(i, j));
  }
  Dataset data = table({{0}});
  data.shape = {2, 3, 3};
  data.values = std::move(images);
  const Scaler scaler(Scaling::channel, data);
  ASSERT_EQ(scaler.shift().size(), 18U);
  for (Index c = 0; c < 2; ++c) {
    double sum = 0;
    double squares = 0;
    for (Index i = 0; i < 4; ++i) {
      for (Index p = 0; p < positions; ++p) {
        const auto x = static_cast<double>(pixel(i, 3 * p + c));
        sum += x;
        squares += x * x;
      }
    }
    const double mean = sum / 24;
    for (Index p = 0; p < positions; ++p) {
      EXPECT_NEAR(scaler.shift()[usize(3 * p + c)], mean, 1e-12);
      EXPECT_NEAR(scaler.scale()[usize(3 * p + c)], std::sqrt(squares / 24 - mean * mean), 1e-11);
    }
  }
  EXPECT_EQ(scaler.shift()[2], 7);
  EXPECT_EQ(scaler.scale()[17], 1);
  scaler.apply(data);
  EXPECT_EQ(value(data, 3, 5), 0);
}

TEST(ScalingTest, ChannelsOfVectorsAreColumns) {
  const Dataset data = table({{1, 5}, {2, 5}, {6, 9}});
  const Scaler channels(Scaling::channel, data);
  const Scaler columns(Scaling::standard, data);
  EXPECT_EQ(channels.shift(), columns.shift());
  EXPECT_EQ(channels.scale(), columns.scale());
}

TEST(ScalingTest, StandardKeepsDigitsFarFromZero) {
  Dataset data = table({{1e9 + 1}, {1e9 + 2}, {1e9 + 3}});
  scale(Scaling::standard, data);
  // The error is at most a few roundings of the column, 1e9·2⁻⁵³ ≈ 1.1e-7 each.
  EXPECT_NEAR(value(data, 0, 0), -std::sqrt(1.5), 4e-7);
  EXPECT_NEAR(value(data, 1, 0), 0, 4e-7);
}

TEST(ScalingTest, MinmaxAndByte) {
  Dataset data = table({{-1, 5}, {0, 5}, {3, 5}});
  const Scaler scaler(Scaling::minmax, data);
  scaler.apply(data);
  EXPECT_EQ(value(data, 0, 0), 0);
  EXPECT_EQ(value(data, 1, 0), 0.25);
  EXPECT_EQ(value(data, 2, 0), 1);
  EXPECT_EQ(value(data, 0, 1), 0);
  Dataset bytes = table({{0, 255}});
  scale(Scaling::byte, bytes);
  EXPECT_EQ(value(bytes, 0, 1), 1);
}

TEST(ScalingTest, FloatsStayFloats) {
  Dataset data = table({{0}});
  Matrix<float> m(1, 1);
  m(0, 0) = 51;
  data.values = std::move(m);
  scale(Scaling::byte, data);
  EXPECT_EQ(std::get<Matrix<float>>(data.values)(0, 0), 0.2F);
}

TEST(ScalingTest, EmptyAndMismatchedSets) {
  for (const auto scaling : {Scaling::none, Scaling::unit, Scaling::standard, Scaling::minmax, Scaling::byte}) {
    Dataset empty = table({});
    scale(scaling, empty);
    EXPECT_EQ(empty.count(), 0);
  }
  Dataset two = table({{1, 2}});
  expect_error(Code::input, {"2 features", "has 1"}, [&] { Scaler(Scaling::none, table({{1}})).apply(two); });
}

TEST(ScalingTest, ComesBackFromItsNumbers) {
  Dataset train = table({{1, -2}, {3, 5}});
  const Scaler learned(Scaling::standard, train);
  const Scaler restored(learned.scaling(), learned.shift(), learned.scale());
  Dataset again = table({{1, -2}, {3, 5}});
  learned.apply(train);
  restored.apply(again);
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(value(train, i, j), value(again, i, j));
  }
  expect_error(Code::input, {"1 shifts", "2 scales"}, [] { (void)Scaler(Scaling::standard, {0}, {1, 1}); });
  expect_error(Code::input, {"feature 1"}, [] { (void)Scaler(Scaling::minmax, {0, 0}, {1, 0}); });
  expect_error(Code::input, {"feature 0"}, [] { (void)Scaler(Scaling::minmax, {std::nan("")}, {1}); });
}

TEST(ScalingTest, OverflowIsAnError) {
  Dataset train = table({{1}, {1 + 1e-15}});
  Dataset test = table({{1e308}});
  expect_error(Code::numerical, {"sample 0"}, [&] { Scaler(Scaling::minmax, train).apply(test); });
}

}  // namespace
}  // namespace widelimit
