#include "widelimit/report/drawing/figures.hpp"

#include "tests/base/thrown.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace widelimit {
namespace {

constexpr std::string_view hostile = "'; system('touch x') `date` $(id) \"q\" %d {/Bold x}_3.125 <b>&amp; \\n é";
constexpr std::string_view hostile_in_svg =
    "'; system('touch x') `date` $(id) \"q\" %d {/Bold x}_3.125 &lt;b>&amp;amp; \\n é";

class Figures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gnuplot_is_present()) GTEST_SKIP() << "gnuplot is not installed (Debian: apt install gnuplot-nox)";
  }
};

bool holds(const Figure& figure, std::string_view text) { return figure.svg.find(text) != std::string::npos; }

Matrix<double> filled(Index rows, Index cols, double value) {
  Matrix<double> matrix(rows, cols);
  for (Index k = 0; k < rows * cols; ++k) matrix.data()[k] = value;
  return matrix;
}

TEST_F(Figures, HeatMapOfNoiseStaysSmall) {
  const Random random(1);
  Matrix<double> noise(500, 500);
  for (Index k = 0; k < 500 * 500; ++k) noise.data()[k] = random.uniform(static_cast<std::uint64_t>(k));
  const Figure figure = heat_map(noise.view(), {.title = "noise"});
  EXPECT_LT(figure.svg.size(), 300'000U);
  EXPECT_TRUE(holds(figure, "<image "));
  EXPECT_NE(figure.note.find("500 × 500"), std::string::npos);
}

TEST_F(Figures, HeatMapOfAwkwardSizesAndValues) {
  for (const auto& size : {std::pair<Index, Index>{1, 1}, {1, 37}, {37, 1}, {2, 2}, {2, 1000}})
    for (const double value : {0.0, -3.0, 1e300, 5e-324})
      EXPECT_TRUE(holds(heat_map(filled(size.first, size.second, value).view(), {.title = "flat"}), "<image "))
          << size.first << " by " << size.second << " of " << value;
  Matrix<double> extreme = filled(2, 2, 1.7e308);
  extreme(0, 0) = -1.7e308;
  EXPECT_TRUE(holds(heat_map(extreme.view(), {}), "<image "));
  AnyMatrix single = Matrix<float>(1, 2);
  std::get<Matrix<float>>(single)(0, 0) = 1.0F;
  std::get<Matrix<float>>(single)(0, 1) = 2.0F;
  EXPECT_TRUE(holds(heat_map(single, {}), "<image "));
}

TEST_F(Figures, HeatMapNamesItsBands) {
  const Matrix<double> matrix = filled(10, 10, 1.0);
  const std::vector<Band> bands = {{"100% cat", 4}, {"none", 4}, {std::string(60, 'w'), 10}};
  const Figure figure = heat_map(matrix.view(), {.row_bands = bands, .column_bands = bands});
  EXPECT_TRUE(holds(figure, "<text>100% cat</text>"));
  EXPECT_FALSE(holds(figure, "<text>none</text>"));
}

/// Distances that are all 0, and curves without points that a logarithmic axis can show.
TEST_F(Figures, TimelinesOfAwkwardValues) {
  const Matrix<double> still = filled(3, 3, 0.0);
  const std::vector<std::string> names{"0", "100% later", "2"};
  const Figure figure = timeline(still.view(), names,
                                 {{"velocity", {{"v", {1, 2}, {0, 0}}}, AxisScale::log},
                                  {"accuracy", {{"train", {0, 1, 2}, {1, 1, 1}}, {"none", {}, {}}}}},
                                 {.title = "t", .row_label = "epoch"});
  EXPECT_TRUE(holds(figure, "<text>100% later</text>"));
  EXPECT_TRUE(holds(figure, "<text>accuracy</text>"));
  EXPECT_EQ(thrown_code([&] { return timeline(still.view(), {"0"}, {}, {}); }), Code::usage);
  EXPECT_EQ(thrown_code([&] {
              return timeline(filled(2, 2, std::nan("")).view(), {"0", "1"}, {}, {});
            }),
            Code::numerical);
}

TEST_F(Figures, HeatMapRefusals) {
  const Matrix<double> matrix = filled(3, 3, 1.0);
  EXPECT_EQ(thrown_code([] { return heat_map(MatrixView<const double>{}, {}); }), Code::usage);
  EXPECT_EQ(thrown_code([] { return heat_map(filled(2, 2, std::nan("")).view(), {}); }), Code::numerical);
  EXPECT_EQ(thrown_code([&] { return heat_map(matrix.view(), {.row_bands = {{"a", 2}}}); }), Code::usage);
  EXPECT_EQ(thrown_code([&] {
              return heat_map(matrix.view(), {.column_bands = {{"a", 2}, {"b", 1}, {"c", 3}}});
            }),
            Code::usage);
}

TEST_F(Figures, TextIsOnlyText) {
  const std::string text(hostile);
  const Matrix<double> matrix = filled(2, 2, 1.0);
  const std::vector<Figure> figures = {
      heat_map(matrix.view(), {.title = text, .row_label = text, .column_label = text, .value_label = text}),
      curves({{text, {1, 2}, {1, 2}}, {text, {1, 2}, {2, 1}}}, {.title = text, .x_label = text, .y_label = text}),
      bars({text}, {{text, {1}}, {text, {2}}}, {.title = text, .value_label = text})};
  for (const Figure& figure : figures) {
    EXPECT_TRUE(holds(figure, "<text>" + std::string(hostile_in_svg) + "</text>"));
    EXPECT_EQ(figure.svg.find("<script"), std::string::npos);
  }
}

TEST_F(Figures, CurvesLeaveOutWhatALogAxisCannotShow) {
  const Figure figure = curves({{"spectrum", {1, 2, 3}, {1, 1e-3, -1e-17}}}, {.title = "s", .y_scale = AxisScale::log});
  EXPECT_NE(figure.note.find("1 of 3"), std::string::npos);
  EXPECT_TRUE(holds(figure, "10⁻³"));
}

TEST_F(Figures, CurvesOfAwkwardSizesAndValues) {
  for (const AxisScale scale : {AxisScale::linear, AxisScale::log}) {
    const CurvesOptions options{.title = "t", .x_scale = scale, .y_scale = scale};
    EXPECT_TRUE(holds(curves({{"point", {1}, {1}}}, options), "</svg>"));
    EXPECT_TRUE(holds(curves({{"flat", {1, 2}, {3, 3}}, {"empty", {}, {}}}, options), "</svg>"));
    EXPECT_TRUE(holds(curves({{"wide", {1e-300, 1e300}, {5e-324, 1.7e308}}}, options), "</svg>"));
  }
  EXPECT_TRUE(holds(curves({{"signs", {-1.7e308, 1.7e308}, {-1.7e308, 1.7e308}}}, {}), "</svg>"));
  EXPECT_TRUE(holds(curves({{"zero", {0}, {0}}}, {}), "</svg>"));
}

TEST_F(Figures, LongCurvesAreThinnedButKeepTheirSpikes) {
  Series series{"long", {}, {}};
  for (int i = 0; i < 100'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54'321 ? 2.0 : 0.0);
  }
  Series flat = series;
  flat.y[54'321] = 0.0;
  const CurvesOptions options{.title = "t"};
  const Figure figure = curves({series}, options);
  EXPECT_LT(figure.svg.size(), 100'000U);
  EXPECT_NE(figure.svg, curves({flat}, options).svg);
}

TEST_F(Figures, CurvesRefusals) {
  EXPECT_EQ(thrown_code([] { return curves({}, {}); }), Code::usage);
  EXPECT_EQ(thrown_code([] { return curves({{"a", {1, 2}, {1}}}, {}); }), Code::usage);
  EXPECT_EQ(thrown_code([] { return curves({{"a", {1}, {HUGE_VAL}}}, {}); }), Code::numerical);
  EXPECT_EQ(thrown_code([] { return curves({{"a", {1}, {-1}}}, {.y_scale = AxisScale::log}); }), Code::usage);
}

TEST_F(Figures, BarsOfAwkwardValues) {
  for (const double value : {0.0, 1.0, -2.5, 1.7e308, -1.7e308, 5e-324})
    EXPECT_TRUE(holds(bars({"a", "b"}, {{"s", {value, 1.0}}}, {.title = "t"}), "</svg>")) << value;
  EXPECT_TRUE(holds(bars({"one"}, {{"s", {0.125}}}, {.title = "t"}), "<text>0.125</text>"));
}

TEST_F(Figures, BarsRefusals) {
  EXPECT_EQ(thrown_code([] { return bars({}, {}, {}); }), Code::usage);
  EXPECT_EQ(thrown_code([] { return bars({"a"}, {{"s", {1, 2}}}, {}); }), Code::usage);
  EXPECT_EQ(thrown_code([] { return bars({"a"}, {{"s", {std::nan("")}}}, {}); }), Code::numerical);
}

TEST_F(Figures, InkFollowsThePage) {
  const Figure figure = curves({{"a", {1, 2}, {1, 2}}}, {.title = "t", .x_label = "x"});
  EXPECT_TRUE(figure.svg.starts_with("<svg color="));
  EXPECT_FALSE(holds(figure, "color=\"black\""));
  EXPECT_FALSE(holds(figure, "rgb(107"));
}

TEST(Gnuplot, ItsAbsenceComesWithAdvice) {
  const char* before = std::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  ::setenv("PATH", "/nowhere", 1);
  const bool present = gnuplot_is_present();
  std::string message;
  try {
    static_cast<void>(curves({{"a", {1, 2}, {1, 2}}}, {.title = "t"}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::usage);
    message = error.what();
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(present);
  EXPECT_NE(message.find("gnuplot-nox"), std::string::npos);
}

}  // namespace
}  // namespace widelimit
