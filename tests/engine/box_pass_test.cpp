#include "widelimit/engine/host/box_pass.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace widelimit {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(BoxPass, OfEqualsTheFirstIsChosenWhateverTheLength) {
  for (Index n = 1; n <= 40; ++n) {
    const std::vector<double> column(usize(n), 1.0);
    const std::vector<double> zero(usize(n));
    for (Index first = 0; first < n; ++first) {
      std::vector<double> gradient(usize(n), 3.0);
      for (Index k = first; k < n; k += 3) gradient[usize(k)] = -2;
      std::vector<double> moved = gradient;
      const host::ScoredVariable lead =
          host::advance({column.data(), 0.5, column.data(), 0.25}, zero.data(), moved.data(), n);
      EXPECT_EQ(lead.at, first);
      EXPECT_EQ(lead.value, -1.25);
      EXPECT_EQ(moved[usize(first)], -1.25);

      for (double& value : gradient) value = -value;
      double largest = 0;
      const std::vector<double> own(usize(n), 2.0);
      const host::ScoredVariable fallen = host::partner(host::IncreasedVariable<double>{column.data(), -1.0, 2.0},
                                                        own.data(), zero.data(), gradient.data(), n, 1e-9, largest);
      EXPECT_EQ(fallen.at, first);
      EXPECT_EQ(fallen.value, 4.5);  // (2 + 1)² / (2 + 2 − 2)
      EXPECT_EQ(largest, 2);
    }
  }
}

TEST(BoxPass, SaysWhereNoVariableMayMove) {
  for (Index n = 1; n <= 20; ++n) {
    const std::vector<double> column(usize(n), 1.0);
    const std::vector<double> bound(usize(n), infinity);
    std::vector<double> gradient(usize(n));
    EXPECT_EQ(host::advance({column.data(), 0.0, column.data(), 0.0}, bound.data(), gradient.data(), n).at, -1);
    const std::vector<double> down(usize(n), -infinity);
    const std::vector<double> own(usize(n), 2.0);
    double largest = 0;
    EXPECT_EQ(host::partner(host::IncreasedVariable<double>{column.data(), 0.0, 2.0}, own.data(), down.data(),
                            gradient.data(), n, 1e-9, largest)
                  .at,
              -1);
    EXPECT_EQ(largest, -infinity);
  }
}

}  // namespace
}  // namespace widelimit
