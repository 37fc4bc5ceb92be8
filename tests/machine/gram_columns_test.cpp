#include "widelimit/kernel/gram_columns.hpp"

#include "tests/machine/random_gram.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

constexpr Index n = 37;
const std::vector<Index> some{3, 4, 5, 9, 11, 12, 30, 36};

template <typename T>
Matrix<T> rounded(const Matrix<double>& k) {
  Matrix<T> result(k.rows(), k.cols());
  std::transform(k.data(), k.data() + k.rows() * k.cols(), result.data(), [](double x) { return static_cast<T>(x); });
  return result;
}

/// Uses the default engine, so that other test programs also cover memory that the host cannot access. If all columns
/// fit into memory they are fetched at once; otherwise at least two are cached.
template <typename T>
void expect_columns(const Matrix<T>& k, const std::vector<Index>& chosen, std::size_t memory) {
  const Index count = chosen.empty() ? n : std::ssize(chosen);
  const auto sample = [&](Index i) { return chosen.empty() ? i : chosen[usize(i)]; };
  GramColumns<T> columns(k, chosen, memory);
  ASSERT_EQ(columns.size(), count);
  GramColumns<T> inner(columns, {0, 2, count - 1}, memory);
  for (int round = 0; round < 2; ++round) {
    for (Index j = 0; j < count; ++j) {
      const T* const column = columns.column(j);
      EXPECT_EQ(columns.diagonal(j), static_cast<double>(k(sample(j), sample(j))));
      for (Index i = 0; i < count; ++i) ASSERT_EQ(column[i], k(sample(i), sample(j))) << i << ' ' << j;
    }
    EXPECT_EQ(inner.column(2)[1], k(sample(2), sample(count - 1)));
    EXPECT_EQ(inner.diagonal(1), static_cast<double>(k(sample(2), sample(2))));
  }
  EXPECT_LE(columns.bytes(), std::max<std::size_t>(2 * memory, 4 * n * sizeof(T) + 2 * some.size() * sizeof(Index)));
}

TEST(GramColumns, AreThoseOfTheMatrixWhateverTheMemory) {
  const Matrix<double> k = random_gram(n, n + 2);
  for (const std::size_t memory : {std::size_t{0}, 5 * n * sizeof(float), std::size_t{1} << 20}) {
    expect_columns(k, {}, memory);
    expect_columns(k, some, memory);
    expect_columns(rounded<float>(k), {}, memory);
    expect_columns(rounded<float>(k), some, memory);
  }
}

}  // namespace
}  // namespace widelimit
