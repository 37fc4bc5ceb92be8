#include "tests/paths.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/drawing/process.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace widelimit {
namespace {

constexpr Index samples = 600;

/// Block kernel of classes: large near the diagonal, small elsewhere, with noise.
Matrix<double> blocky_kernel(double contrast) {
  const Random random(7);
  Matrix<double> kernel(samples, samples);
  for (Index i = 0; i < samples; ++i) {
    for (Index j = 0; j < samples; ++j) {
      const Index a = i / 60;
      const Index b = j / 60;
      const double classes = a == b ? 1.0 : 0.45 + 0.2 * std::sin(0.7 * static_cast<double>(a * b));
      const auto cell = static_cast<std::uint64_t>(std::min(i, j) * samples + std::max(i, j));
      kernel(i, j) = contrast * classes + 0.08 * random.normal(cell);
    }
  }
  return kernel;
}

std::vector<Band> digit_bands() {
  std::vector<Band> bands;
  for (Index digit = 0; digit < 10; ++digit) bands.push_back({std::to_string(digit), 60 * (digit + 1)});
  return bands;
}

Illustration kernel_figure(std::string_view kind, double contrast) {
  const Matrix<double> kernel = blocky_kernel(contrast);
  Figure figure = heat_map(kernel.view(), {.title = std::string(kind) + " of fc:3 on digits",
                                           .row_label = "digit",
                                           .column_label = "digit",
                                           .value_label = "kernel",
                                           .row_bands = digit_bands(),
                                           .column_bands = digit_bands()});
  return {std::move(figure), "Samples ordered by class; lines part the classes.", "Bright blocks on the diagonal"};
}

Illustration spectrum_figure() {
  std::vector<Series> spectra = {{"NTK", {}, {}}, {"NNGP", {}, {}}, {"RBF, γ = ½ & more", {}, {}}};
  for (int k = 1; k <= 3000; ++k) {
    for (std::size_t s = 0; s < 3; ++s) {
      spectra[s].x.push_back(k);
      spectra[s].y.push_back(300.0 * std::pow(k, -1.1 - 0.35 * static_cast<double>(s)));
    }
  }
  spectra[2].y.back() = -1e-17;
  Figure figure = curves(spectra, {.title = "Spectrum",
                                   .x_label = "index",
                                   .y_label = "eigenvalue",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log});
  return {std::move(figure), "Eigenvalues from the largest to the smallest.", "Three falling lines"};
}

Illustration loss_figure() {
  Series loss{"training", {}, {}};
  Series test{"test", {}, {}};
  for (int t = 0; t <= 20; ++t) {
    loss.x.push_back(t);
    test.x.push_back(t);
    loss.y.push_back(std::exp(-0.3 * t));
    test.y.push_back(0.2 + 0.8 * std::exp(-0.25 * t));
  }
  Figure figure = curves({loss, test}, {.title = "Loss over time", .x_label = "time", .y_label = "squared loss"});
  return {std::move(figure), "Both fall; the test loss levels off.", ""};
}

Illustration timing_figure() {
  Figure figure =
      bars({"fc:3, n = 1,797", "fc:3, n = 10,000", "dense(w_std=1.4) <relu> & 100% \"more\" words than fit"},
           {{"widelimit", {0.041, 1.27, 0.6}}, {"NumPy", {0.38, 11.9, 7.25}}},
           {.title = "Seconds for one Gram matrix", .value_label = "seconds"});
  return {std::move(figure), "Shorter is better.", "Bars: widelimit is shorter everywhere"};
}

Page sample_page() {
  Page page("Kernels of <digits> & friends", "The NTK of fc:3 on 600 digits separates all ten classes.");
  page.highlights({{"samples", "600"}, {"kernel", "fc:3"}, {"seconds", "0.041"}, {"condition", "3.1e4"}});
  page.section("Kernel matrices").paragraph("Two kernels of one network, side by side.");
  page.figures({kernel_figure("NTK", 3.0), kernel_figure("NNGP", 1.0)});
  page.section("Spectrum").figure(spectrum_figure());
  page.section("Dynamics and cost").figures({loss_figure(), timing_figure()});
  page.table({.columns = {"network", "kind", "samples", "largest eigenvalue", "trace"},
              .rows = {{"fc:1", "ntk", std::int64_t{600}, 312.25, 1800.5},
                       {"fc:3", "ntk", std::int64_t{600}, 1250.125, 2400.0},
                       {"residual{ dense relu dense | dense } dense", "nngp", std::int64_t{1797}, 7.5, {}}},
              .caption = "Numbers that say how the kernels differ."});
  page.settings({{"network", "fc:3(w_std=1.4142)"},
                 {"train", "digits"},
                 {"kind", {"ntk", "nngp"}},
                 {"scale", "unit"},
                 {"limit", 600},
                 {"shuffle", nullptr}});
  return page;
}

TEST(Page, OpensInChromiumWithAllFigures) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "gnuplot is not installed (Debian: apt install gnuplot-nox)";
  const TemporaryFolder folder;
  const char* keep = std::getenv("WIDELIMIT_SAMPLE_PAGE");
  const std::filesystem::path path = keep == nullptr ? folder.path() / "page.html" : std::filesystem::path(keep);
  sample_page().write(path);
  const ProgramEnd ending =
      run_program({"python3", test::open_page_script(), path.string(), "--figures", "5"}, folder.path());
  if (!ending.found || ending.status == 77) GTEST_SKIP() << "python3 or chromium is absent: " << ending.output;
  EXPECT_TRUE(ending.succeeded()) << ending.output;
}

}  // namespace
}  // namespace widelimit
