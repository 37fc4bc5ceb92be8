#include "widelimit/report/figures/kernel_figures.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

Dataset labelled(std::vector<Index> labels, std::vector<std::string> names) {
  Dataset data;
  data.name = "test";
  data.values = Matrix<double>(std::ssize(labels), 1);
  data.labels = std::move(labels);
  data.class_names = std::move(names);
  return data;
}

TEST(ClassOrder, KeepsTheOrderInsideAClass) {
  const ClassOrder order = order_by_class(labelled({1, 0, 1, 2, 0}, {"a", "b", "c"}));
  EXPECT_EQ(order.rows, (std::vector<Index>{1, 4, 0, 2, 3}));
  ASSERT_EQ(order.bands.size(), 3U);
  EXPECT_EQ(order.bands[0].name, "a");
  EXPECT_EQ(order.bands[0].end, 2);
  EXPECT_EQ(order.bands[2].end, 5);
}

TEST(ClassOrder, WithoutLabelsThereAreNoBands) {
  Dataset data = labelled({0, 0, 0}, {"a"});
  data.labels.clear();
  const ClassOrder order = order_by_class(data);
  EXPECT_EQ(order.rows, (std::vector<Index>{0, 1, 2}));
  EXPECT_TRUE(order.bands.empty());
}

TEST(ClassOrder, ThinsEvenly) {
  std::vector<Index> labels(1000, 0);
  std::fill(labels.begin() + 500, labels.end(), 1);
  const ClassOrder order = order_by_class(labelled(labels, {"a", "b"}), 100);
  ASSERT_EQ(order.rows.size(), 100U);
  EXPECT_EQ(order.bands[0].end, 50);
  EXPECT_EQ(order.bands[1].end, 100);
}

TEST(KernelHeatMap, DrawsZeroRowsAsCorrelationsToo) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  Matrix<double> gram(3, 3);
  gram(0, 0) = 4;
  gram(1, 1) = 1;
  const Illustration picture =
      kernel_heat_map(AnyMatrix(std::move(gram)), labelled({0, 1, 1}, {"a", "b"}), "K", Shade::correlation);
  EXPECT_NE(picture.figure.svg.find("<svg"), std::string::npos);
  EXPECT_EQ(picture.figure.svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace widelimit
