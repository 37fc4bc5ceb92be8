#include "widelimit/kernel/panels.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/tiles.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace widelimit {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(Panels, EverythingAtOnceWhereItFits) {
  const PanelPlan plan =
      plan_panels({.rows = 1000, .cols = 300, .edge = 512, .sample_bytes = 100, .budget = 64 * mebibyte});
  EXPECT_EQ(plan.rows, 1000);
  EXPECT_EQ(plan.cols, 300);
  EXPECT_GE(plan.bytes, 130000U);
  EXPECT_LT(plan.bytes, 140000U);
}

TEST(Panels, StayBelowTheBudgetAndEndAtEdges) {
  for (const bool symmetric : {false, true}) {
    for (const Index n : {37, 5000, 50000}) {
      for (const std::size_t budget : {32 * mebibyte, 100 * mebibyte, 1024 * mebibyte}) {
        PanelNeeds needs{.rows = n, .cols = n, .symmetric = symmetric, .edge = 4, .sample_bytes = 160000};
        needs.fixed_bytes = 20 * mebibyte;
        needs.budget = budget;
        const PanelPlan plan = plan_panels(needs);
        EXPECT_LE(plan.bytes, budget);
        EXPECT_TRUE(plan.rows == n || plan.rows % 4 == 0);
        EXPECT_TRUE(plan.cols == n || plan.cols % 4 == 0);
        EXPECT_GE(plan.rows, 4);
        // Memory that is really in use at once.
        const Index loaded = symmetric && plan.rows == n ? n : plan.rows + plan.cols;
        EXPECT_LE(static_cast<std::size_t>(loaded) * needs.sample_bytes + needs.fixed_bytes, budget);
      }
    }
  }
}

TEST(Panels, RowsGetMostOfIt) {
  PanelNeeds needs{.rows = 50000, .cols = 50000, .symmetric = true, .edge = 4, .sample_bytes = 160000};
  needs.budget = 256 * mebibyte;
  const PanelPlan plan = plan_panels(needs);
  EXPECT_GT(plan.rows, 6 * plan.cols);
  EXPECT_GT(plan.bytes, 230 * mebibyte);
}

TEST(Panels, TooLittleMemorySaysHowMuchIsNeeded) {
  try {
    (void)plan_panels({.rows = 1000,
                       .cols = 1000,
                       .edge = 512,
                       .sample_bytes = 1000,
                       .fixed_bytes = 3 * mebibyte,
                       .budget = 2 * mebibyte});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::resource);
    EXPECT_NE(std::string(error.what()).find("3.98 MiB"), std::string::npos) << error.what();
    EXPECT_EQ(error.remedies(), std::vector{Remedy::more_memory});
  }
}

/// Covers every pair once, as a whole or panel by panel.
TEST(Cut, CoversTheUpperTriangleOnce) {
  for (const Index n : {0, 1, 2, 37, 130, 300}) {
    for (const Index edge : {4, 64, 128}) {
      std::vector<int> visited(static_cast<std::size_t>(n * n), 0);
      for (const Tile& tile : upper_tiles({0, n}, edge)) {
        EXPECT_TRUE(tile.rows.begin <= tile.cols.begin);
        for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
          for (Index j = tile.cols.begin; j < tile.cols.end; ++j) ++visited[static_cast<std::size_t>(i * n + j)];
        }
      }
      Index wrong = 0;
      for (Index i = 0; i < n; ++i) {
        for (Index j = i; j < n; ++j) wrong += visited[static_cast<std::size_t>(i * n + j)] != 1 ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0) << n << " " << edge;
    }
  }
}

TEST(Cut, PanelsHaveTheTilesOfTheWhole) {
  const auto whole = upper_tiles({0, 700}, 64);
  auto parts = upper_tiles({0, 192}, 64);
  for (const auto& more : {rectangle_tiles({0, 192}, {192, 700}, 64), upper_tiles({192, 700}, 64)}) {
    parts.insert(parts.end(), more.begin(), more.end());
  }
  ASSERT_EQ(parts.size(), whole.size());
  const auto find = [&](const Tile& tile) {
    for (const Tile& other : whole) {
      if (other.rows.begin == tile.rows.begin && other.rows.end == tile.rows.end &&
          other.cols.begin == tile.cols.begin && other.cols.end == tile.cols.end)
        return true;
    }
    return false;
  };
  for (const Tile& tile : parts) EXPECT_TRUE(find(tile));
}

}  // namespace
}  // namespace widelimit
