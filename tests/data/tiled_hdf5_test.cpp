#include "widelimit/data/hdf5/tiled_hdf5.hpp"

#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/data/hdf5/hdf5_blocks.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace widelimit {
namespace {

Matrix<float> counted(Index rows, Index cols) {
  Matrix<float> matrix(rows, cols);
  std::iota(matrix.data(), matrix.data() + rows * cols, 1.0F);
  return matrix;
}

/// Blocks with arbitrary bounds, across chunks, are read back correctly by HDF5.
TEST(TiledHdf5, BlocksLieWhereHdf5Looks) {
  for (const Index chunk : {1, 4, 7, 23}) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "k.h5";
    const Index rows = 23;
    const Index cols = 31;
    std::vector<TiledMatrix> matrices{{"a", Precision::f32, rows, cols, chunk, std::min<Index>(2 * chunk, cols), 0},
                                      {"group/b", Precision::f64, 0, 5, 0, 5, 0}};
    const double labels[]{1, 2, 3};
    create_tiled_hdf5(path, matrices, {{"y", MatrixView<const double>{labels, 1, 3, 3}, {3}}}, {{"settings", "{}"}});
    const Matrix<float> expected = counted(rows, cols);
    const TiledFile file(path);
    for (Index row = 0; row < rows; row += 5) {
      for (Index col = 0; col < cols; col += 6) {
        const Index height = std::min<Index>(5, rows - row);
        const Index width = std::min<Index>(6, cols - col);
        file.write(matrices[0], row, col, expected.view().block(row, col, height, width));
      }
    }
    Matrix<float> back(rows, cols);
    file.read(matrices[0], 0, 0, back.view());
    EXPECT_TRUE(std::equal(back.data(), back.data() + rows * cols, expected.data()));
    const ArrayFile all = read_hdf5_arrays(path);
    const auto& stored = std::get<Matrix<float>>(all.arrays.at("a").values);
    EXPECT_TRUE(std::equal(stored.data(), stored.data() + rows * cols, expected.data())) << chunk;
    EXPECT_EQ(std::get<Matrix<double>>(all.arrays.at("y").values)(1, 0), 2);
  }
}

TEST(TiledHdf5, BlocksAreReadInAnyPrecisionAndStride) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "k.h5";
  std::vector<TiledMatrix> matrices{{"a", Precision::f32, 9, 11, 4, 4, 0}};
  create_tiled_hdf5(path, matrices, {}, {{"settings", "text"}});
  const Matrix<float> expected = counted(9, 11);
  TiledFile(path).write(matrices[0], 0, 0, expected.view());
  const Hdf5Blocks file(path);
  ASSERT_EQ(file.matrices().size(), 1U);
  EXPECT_EQ(file.text("settings"), "text");
  EXPECT_EQ(file.text("absent"), "");
  Matrix<double> into(6, 8);
  file.read(file.matrices()[0], 3, 2, into.view().block(1, 1, 5, 4));
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 8; ++j) {
      const bool inside = i >= 1 && j >= 1 && j < 5;
      EXPECT_EQ(into(i, j), inside ? static_cast<double>(expected(i + 2, j + 1)) : 0.0);
    }
  }
  for (const auto& [row, col] : {std::pair<Index, Index>{5, 0}, {-1, 0}, {0, 5}, {PTRDIFF_MAX, 0}}) {
    EXPECT_THROW(file.read(file.matrices()[0], row, col, into.view()), Error);
  }
}

TEST(TiledHdf5, EqualFilesHaveEqualBytes) {
  const TemporaryFolder folder;
  for (const char* name : {"a.h5", "b.h5"}) {
    std::vector<TiledMatrix> matrices{{"n/k", Precision::f64, 20, 20, 8, 8, 0}};
    create_tiled_hdf5(folder.path() / name, matrices, {}, {{"settings", std::string(100000, 'x')}});
  }
  EXPECT_EQ(read_back(folder.path() / "a.h5"), read_back(folder.path() / "b.h5"));
}

}  // namespace
}  // namespace widelimit
