#include "tests/engine/engines.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

/// Gram matrices of any engine that are accessible to the host.
namespace widelimit::test {
namespace {

class HostMemoryTest : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Engine> engine_ = engine_named(GetParam());
};

template <typename T>
void expect_the_same(const Engine& engine) {
  constexpr Index n = 61;
  Matrix<T> host(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) host(i, j) = static_cast<T>(std::exp(-std::abs(static_cast<double>(i - j)) / 7));
  }
  const GramMatrix k(host.view(), engine);
  const double asymmetry = k.check();
  const std::optional<GramMatrix> near = k.in_host_memory();
  ASSERT_TRUE(near);
  EXPECT_EQ(near->samples(), n);
  EXPECT_EQ(near->precision(), k.precision());
  EXPECT_EQ(near->check(), asymmetry);
  EXPECT_EQ(near->diagonal(), k.diagonal());
  Matrix<T> found(n, n);
  near->algebra().read(near->matrix(), found.view());
  EXPECT_TRUE(std::equal(host.data(), host.data() + n * n, found.data()));
}

TEST_P(HostMemoryTest, HasTheSameEntries) {
  expect_the_same<double>(*engine_);
  expect_the_same<float>(*engine_);
}

INSTANTIATE_TEST_SUITE_P(Engines, HostMemoryTest,
                         testing::ValuesIn(engines_and_cuda({"cpu", "reference", "opaque", "emulated"})),
                         [](const auto& engine) { return engine.param; });

}  // namespace
}  // namespace widelimit::test
