#include "widelimit/report/figures/certificate_figures.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace widelimit {
namespace {

constexpr double unbroken = std::numeric_limits<double>::infinity();

class CertificateFigures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gnuplot_is_present()) GTEST_SKIP() << "gnuplot is not installed (Debian: apt install gnuplot-nox)";
  }
};

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(CertificateSeries, MisclassifiedSamplesHaveRadiusZero) {
  Certificates c;
  c.correct = {true, false};
  c.radius = {0.1, 0};
  c.attack = {0.2, 0.7};
  EXPECT_EQ(certified_radii("convex", c).radii, (std::vector<double>{0.1, 0}));
  EXPECT_EQ(attacked_radii(c).radii, (std::vector<double>{0.2, 0}));
}

TEST_F(CertificateFigures, CurveTellsMedians) {
  const std::vector<RadiusSeries> series{{"convex", {0, 0.1, 0.2, 0.3}}, {"attack", {0, 0.2, unbroken, 0.5}}};
  const Illustration picture = certified_accuracy(series);
  EXPECT_TRUE(holds(picture.caption, "convex 0.2, attack 0.5")) << picture.caption;
  const Illustration even = certified_accuracy({{"convex", {0, 0.4, 0.1, 0.3, 0.2}}, {"attack", {0, 1, unbroken}}});
  EXPECT_TRUE(holds(even.caption, "convex 0.25, attack none for half")) << even.caption;
  EXPECT_FALSE(holds(picture.figure.svg, "nan"));
  EXPECT_TRUE(holds(picture.figure.svg, "convex"));
}

TEST_F(CertificateFigures, WideSpreadIsLogarithmic) {
  const Illustration wide = certified_accuracy({{"paper", {1e-4, 2e-4}}, {"convex", {0.1, 0.2}}});
  EXPECT_TRUE(holds(wide.figure.svg, "10⁻")) << "no powers of ten on the axis";
  const Illustration narrow = certified_accuracy({{"convex", {0.1, 0.2}}});
  EXPECT_FALSE(holds(narrow.figure.svg, "10⁻"));
}

TEST_F(CertificateFigures, HistogramCountsWhatItCannotShow) {
  const Illustration picture = radius_histogram({{"convex", {0, 0.1, 0.2}}, {"attack", {0, 0.3, unbroken}}});
  EXPECT_TRUE(holds(picture.caption, "convex 1 of 3, attack 2 of 3")) << picture.caption;
}

TEST_F(CertificateFigures, OfNothingAreRefused) {
  EXPECT_THROW((void)certified_accuracy({{"convex", {0, 0}}}), Error);
  EXPECT_THROW((void)certified_accuracy({}), Error);
  EXPECT_THROW((void)radius_histogram({{"attack", {unbroken}}}), Error);
}

}  // namespace
}  // namespace widelimit
