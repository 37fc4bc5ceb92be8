#include "widelimit/engine/select.hpp"

#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <malloc.h>

namespace widelimit {
namespace {

std::size_t bytes_in_use() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Case {
  std::string network;
  Shape shape;
};

/// The bound holds and is not too loose, so that a memory budget is well used.
TEST(LoadedBytes, BoundWhatLoadKeeps) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "sanitizers allocate past the counters of malloc";
  const std::vector<Case> cases{{"fc:3", {1, 1, 100}},
                                {"fc:8(b_std=0.1)", {1, 1, 40}},
                                {"dense tanh dense erf dense", {1, 1, 30}},
                                {"dense residual{ relu dense | dense } gelu dense", {1, 1, 30}},
                                {"cntk:4(readout=flatten)", {8, 8, 3}},
                                {"conv relu avg_pool conv(b_std=0.2) erf global_avg_pool dense", {6, 6, 2}},
                                {"conv relu attention flatten dense", {4, 4, 2}}};
  constexpr Index n = 150;
  for (const char* name : {"cpu", "reference"}) {
    const auto engine = make_engine(name);
    for (const Case& c : cases) {
      for (const Precision precision : {Precision::f32, Precision::f64}) {
        SCOPED_TRACE(std::string(name) + " " + c.network);
        const Matrix<double> x = normal_rows(n, c.shape.size(), 3);
        const Recipe recipe = lower(Network::parse(c.network), c.shape, RecipeOutputs::both);
        // Quadrature tables are created once, by the first use.
        (void)engine->kernels().load(recipe, SampleView(x.view(), c.shape), precision, [](Index) {});
        const std::size_t before = bytes_in_use();
        const auto loaded = engine->kernels().load(recipe, SampleView(x.view(), c.shape), precision, [](Index) {});
        const std::size_t kept = (bytes_in_use() - before) / n;
        const std::size_t bound = engine->kernels().loaded_bytes(recipe, precision, SampleView(x.view(), c.shape));
        // Arrays of 150 places are padded to 176; the descriptions of steps do not grow with n.
        EXPECT_GE(bound * 176 / 150 + 128, kept);
        EXPECT_LE(bound, 3 * kept + 512);
      }
    }
  }
}

}  // namespace
}  // namespace widelimit
