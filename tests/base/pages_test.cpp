#include "widelimit/base/error.hpp"
#include "widelimit/base/matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace widelimit {
namespace {

constexpr Index large_rows = 3000;  // 72 MB of doubles, above the malloc threshold
constexpr Index large_cols = 3001;

bool all_zero(const Matrix<double>& matrix) {
  return std::all_of(matrix.data(), matrix.data() + matrix.rows() * matrix.cols(), [](double v) { return v == 0; });
}

TEST(Pages, TooLargeIsAnErrorOfResources) {
  try {
    const std::size_t bytes = std::numeric_limits<std::size_t>::max() - 5;
    release_pages(allocate_pages(bytes, Content::zero), bytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::resource);
    EXPECT_NE(std::string(error.what()).find("GiB"), std::string::npos);
  }
  EXPECT_EQ(allocate_pages(0, Content::unset), nullptr);
}

TEST(Pages, AReleasedBlockServesTheNextOfItsSize) {
  const double* first = nullptr;
  {
    Matrix<double> matrix(large_rows, large_cols);
    std::fill_n(matrix.data(), large_rows * large_cols, 1.0);
    first = matrix.data();
  }
  const Matrix<double> again(large_rows, large_cols, Content::unset);
  EXPECT_EQ(again.data(), first);
  const Matrix<double> beside(large_rows, large_cols, Content::unset);
  EXPECT_NE(beside.data(), first);
}

TEST(Pages, ZeroIsZeroAfterABlockWasReleased) {
  for (const Index cols : {Index{7}, large_cols}) {
    {
      Matrix<double> matrix(large_rows, cols);
      std::fill_n(matrix.data(), large_rows * cols, 1.0);
    }
    EXPECT_TRUE(all_zero(Matrix<double>(large_rows, cols)));
  }
}

TEST(Pages, ClearsAnyPart) {
  Matrix<double> matrix(large_rows, large_cols);
  const Index size = large_rows * large_cols;
  const Index parts[][2] = {{0, size}, {1, size - 1}, {5, 5}, {5, 6}, {100, 300000}, {100, 1000000}, {size - 9, size}};
  for (const auto& [begin, end] : parts) {
    std::fill_n(matrix.data(), size, 1.0);
    clear_pages(matrix.data() + begin, static_cast<std::size_t>(end - begin) * sizeof(double));
    EXPECT_EQ(std::count(matrix.data(), matrix.data() + size, 0.0), end - begin);
    EXPECT_TRUE(begin == 0 || matrix.data()[begin - 1] == 1.0);
    EXPECT_TRUE(end == size || matrix.data()[end] == 1.0);
  }
}

}  // namespace
}  // namespace widelimit
