#include "widelimit/base/sparse.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/samples.hpp"

#include <gtest/gtest.h>

#include <array>

namespace widelimit {
namespace {

/// 0 1 0 2 / empty / 3 0 0 −4.
SparseMatrix small() { return {4, {0, 2, 2, 4}, {1, 3, 0, 3}, {1, 2, 3, -4}}; }

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    return error.what();
  }
  return "no error";
}

TEST(Sparse, RowsExpandAndComeBack) {
  const SparseMatrix m = small();
  EXPECT_EQ(m.rows(), 3);
  EXPECT_EQ(m.stored(), 4);
  EXPECT_EQ(m.view().longest_row(), 2);
  const Matrix<double> dense = dense_copy(m.view());
  const std::array<double, 12> expected{0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 0, -4};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), dense.data()));
  const SparseMatrix again = SparseMatrix::of(dense.view());
  EXPECT_EQ(again.stored(), 4);
  EXPECT_EQ(again.view().row(2).columns[1], 3);
  EXPECT_EQ(again.view().row(2).values[1], -4);
}

TEST(Sparse, PartsAndChosenRows) {
  const SparseMatrix m = small();
  const SampleView view(m.view(), {1, 1, 4});
  const SampleView last = view.part(1, 2);
  EXPECT_EQ(last.count(), 2);
  EXPECT_EQ(last.sparse()->stored(), 2);
  const AnySamples copied = copy_of(last);
  EXPECT_EQ(std::get<SparseMatrix>(copied).view().row(1).values[0], 3);
  const std::array<Index, 3> chosen{2, 1, 2};
  const AnySamples picked = gather(view, chosen);
  EXPECT_EQ(std::get<SparseMatrix>(picked).stored(), 4);
  EXPECT_TRUE(view.same_memory(view.part(0, 3)));
  EXPECT_FALSE(view.same_memory(last));
  EXPECT_EQ(view.longest(), 2);
  EXPECT_EQ(view.bytes(), 4 * 12 + 4 * 8);
  EXPECT_EQ(copy_of(view.part(3, 0)).index(), 2u);
}

TEST(Sparse, OfNothing) {
  const SparseMatrix empty;
  EXPECT_EQ(empty.rows(), 0);
  EXPECT_EQ(empty.view().stored(), 0);
  EXPECT_EQ(SparseMatrix::copy(empty.view()).rows(), 0);
  EXPECT_EQ(SparseMatrix(3, {0, 0, 0}, {}, {}).rows(), 2);
}

TEST(Sparse, DamageIsNamedByItsPlace) {
  EXPECT_NE(message_of([] {
              (void)SparseMatrix(4, {0, 2}, {1, 1}, {1, 2});
            }).find("row 0 stores column 1 twice"),
            std::string::npos);
  EXPECT_NE(message_of([] { (void)SparseMatrix(4, {0, 0, 2}, {2, 1}, {1, 2}); }).find("row 1"), std::string::npos);
  EXPECT_NE(message_of([] { (void)SparseMatrix(4, {0, 1}, {4}, {1}); }).find("column 4"), std::string::npos);
  EXPECT_NE(message_of([] { (void)SparseMatrix(4, {0, 1}, {-1}, {1}); }).find("column -1"), std::string::npos);
  EXPECT_NE(message_of([] { (void)SparseMatrix(4, {0, 2, 1}, {1}, {1}); }).find("offsets descend"), std::string::npos);
  EXPECT_NE(message_of([] { (void)SparseMatrix(4, {0, 2}, {1}, {1}); }).find("do not match"), std::string::npos);
  EXPECT_NE(message_of([] { (void)SparseMatrix(Index{1} << 31, {0}, {}, {}); }).find("at most"), std::string::npos);
}

TEST(Sparse, ReadersOfDenseRowsSayWhoTheyAre) {
  const SparseMatrix m = small();
  const std::string message = message_of([&] { (void)SampleView(m.view(), {1, 1, 4}).dense("convolutions"); });
  EXPECT_NE(message.find("convolutions do not take sparse samples"), std::string::npos);
  EXPECT_NE(message.find("dense"), std::string::npos);
}

}  // namespace
}  // namespace widelimit
