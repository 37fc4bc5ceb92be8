#include "widelimit/engine/host/compensated_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

namespace widelimit {
namespace {

/// Columns and factors with catastrophic cancellation: the result is the last addend, 1e-25 of the terms.
template <typename T>
void expect_exact(Index size) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> high(static_cast<std::size_t>(size));
  std::vector<double> low(high.size());
  std::vector<std::vector<T>> columns;
  std::vector<double> factors;
  for (int j = 0; j < 40; ++j) {
    std::vector<T> column;
    for (Index i = 0; i < size; ++i) column.push_back(static_cast<T>(uniform(random)));
    columns.push_back(column);
    factors.push_back(std::ldexp(uniform(random), j % 30));
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    host::accumulate(columns[j].data(), factors[j], high.data(), low.data(), size);
  }
  std::vector<T> small;
  for (Index i = 0; i < size; ++i) small.push_back(static_cast<T>(uniform(random)));
  host::accumulate(small.data(), 1e-17, high.data(), low.data(), size);
  for (std::size_t j = columns.size(); j-- > 0;) {
    host::accumulate(columns[j].data(), -factors[j], high.data(), low.data(), size);
  }
  for (std::size_t i = 0; i < high.size(); ++i) {
    // 81 terms up to 2³⁰ in doubled precision: error of 81²u² of their sum.
    EXPECT_NEAR(high[i] + low[i], 1e-17 * static_cast<double>(small[i]), 1e-19) << size << ' ' << i;
  }
}

template <typename T>
void expect_same_together(Index size, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(size) + static_cast<unsigned>(count));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::vector<T>> columns(count, std::vector<T>(static_cast<std::size_t>(size)));
  std::vector<const T*> places;
  std::vector<double> factors;
  for (std::vector<T>& column : columns) {
    for (T& entry : column) entry = static_cast<T>(uniform(random));
    places.push_back(column.data());
    factors.push_back(uniform(random));
  }
  std::vector<double> high(static_cast<std::size_t>(size), 0.5);
  std::vector<double> low(high.size(), 1e-20);
  std::vector<double> high_together = high;
  std::vector<double> low_together = low;
  for (std::size_t j = 0; j < count; ++j) {
    host::accumulate(places[j], factors[j], high.data(), low.data(), size);
  }
  host::accumulate(std::span<const T* const>(places), factors.data(), high_together.data(), low_together.data(), size);
  EXPECT_EQ(high, high_together) << size << ' ' << count;
  EXPECT_EQ(low, low_together) << size << ' ' << count;
}

TEST(Compensated, ColumnsTogetherGiveTheBitsOfOneByOne) {
  for (const Index size : {1, 7, 37, 200}) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 30U}) {
      expect_same_together<double>(size, count);
      expect_same_together<float>(size, count);
    }
  }
}

TEST(Compensated, SumsKeepWhatTermsRoundOff) {
  for (const Index size : {1, 2, 7, 8, 9, 37, 200}) {
    expect_exact<double>(size);
    expect_exact<float>(size);
  }
}

}  // namespace
}  // namespace widelimit
