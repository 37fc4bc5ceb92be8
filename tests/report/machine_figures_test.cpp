#include "widelimit/report/figures/machine_figures.hpp"

#include "tests/paths.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/drawing/process.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

class MachineFigures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gnuplot_is_present()) GTEST_SKIP() << "gnuplot is not installed (Debian: apt install gnuplot-nox)";
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::vector<TunePoint> falling_points() {
  std::vector<TunePoint> points;
  for (const double lambda : {10.0, 0.1, 1.0, 1e-3}) {
    TunePoint point{.lambda = lambda, .misclassified = lambda / 20};
    point.training_misclassified = lambda / 40;
    points.push_back(point);
  }
  points.push_back({.lambda = 100, .unsolved = 5});
  return points;
}

TEST_F(MachineFigures, ConfusionCountsItsDiagonal) {
  const Illustration map = confusion_map({{5, 1}, {0, 0}}, {"<a>", "b & c"}, "Who is taken for whom");
  EXPECT_TRUE(contains(map.caption, "5 of 6")) << map.caption;
  EXPECT_FALSE(contains(map.figure.svg, "nan"));
  EXPECT_THROW((void)confusion_map({{5, 1}}, {"a", "b"}, ""), Error);
  EXPECT_THROW((void)confusion_map({{5, 1}, {1}}, {"a", "b"}, ""), Error);
}

TEST_F(MachineFigures, ReliabilityTellsTheCalibrationErrors) {
  const ProbabilityScores scores{
      .log_loss = 0.5, .brier = 0.2, .calibration_error = 0.125, .bins = {{}, {3, 0.6, 1.0 / 3}, {}, {2, 1, 1}}};
  const Illustration picture = reliability_curves({{"test", scores}});
  EXPECT_TRUE(contains(picture.caption, "test 0.125")) << picture.caption;
  EXPECT_FALSE(contains(picture.figure.svg, "nan"));
}

TEST_F(MachineFigures, RocTellsTheAreas) {
  const auto found = roc(std::vector<double>{1, 2, 2, 3}, {false, true, false, true});
  const Illustration picture = roc_curves({{"train", *found}, {"test", *found}}, "8");
  EXPECT_TRUE(contains(picture.caption, "train 0.875, test 0.875")) << picture.caption;
}

TEST_F(MachineFigures, MarginsCountTheWrongSide) {
  const Illustration picture = margin_histogram({{"train", {1, 2, 3}}, {"test", {-1, 0, 2}}});
  EXPECT_TRUE(contains(picture.caption, "train 0 of 3, test 2 of 3")) << picture.caption;
  EXPECT_FALSE(margin_histogram({{"one", {0}}}).figure.svg.empty());
  EXPECT_THROW((void)margin_histogram({}), Error);
}

TEST_F(MachineFigures, LambdaPathMarksTheChoiceAndLeavesOutWhatFailed) {
  const Illustration one = error_by_lambda({{"fc:1", falling_points()}}, "leave-one-out", std::pair(0U, 3U));
  for (const char* name : {"leave-one-out", "training", "chosen", "λ"}) {
    EXPECT_TRUE(contains(one.figure.svg, name)) << name;
  }
  EXPECT_TRUE(contains(one.caption, "λ = 0.001")) << one.caption;
  const Illustration two =
      error_by_lambda({{"fc:1", falling_points()}, {"fc:2", falling_points()}}, "5 folds", std::nullopt);
  EXPECT_TRUE(contains(two.figure.svg, "fc:2"));
  EXPECT_FALSE(contains(two.figure.svg, "training"));
}

TEST_F(MachineFigures, OpenInChromium) {
  const auto found = roc(std::vector<double>{1, 2, 2, 3}, {false, true, false, true});
  Page page("Machines", "All figures of machines.");
  page.section("All").figures({confusion_map({{5, 1}, {2, 4}}, {"a", "b"}, "Confusion"),
                               roc_curves({{"test", *found}}, "b"), margin_histogram({{"test", {-1, 0.5, 2}}}),
                               error_by_lambda({{"fc:1", falling_points()}}, "leave-one-out", std::pair(0U, 3U))});
  const TemporaryFolder folder;
  page.write(folder.path() / "page.html");
  const ProgramEnd ending = run_program(
      {"python3", test::open_page_script(), (folder.path() / "page.html").string(), "--figures", "4"}, folder.path());
  if (!ending.found || ending.status == 77) GTEST_SKIP() << "python3 or chromium is absent: " << ending.output;
  EXPECT_TRUE(ending.succeeded()) << ending.output;
}

}  // namespace
}  // namespace widelimit
