#include "widelimit/kernel/entries.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

TEST(Entries, AreSummarised) {
  Matrix<float> matrix(2, 2);
  matrix(0, 0) = 1;
  matrix(0, 1) = -2;
  matrix(1, 1) = 5;
  matrix(1, 0) = 0;
  const Entries entries = summarise(AnyMatrix(std::move(matrix)));
  EXPECT_EQ(entries.smallest, -2);
  EXPECT_EQ(entries.largest, 5);
  EXPECT_EQ(entries.mean, 1);
  EXPECT_EQ(entries.trace, 6);
  EXPECT_FALSE(summarise(Matrix<double>(2, 3)).trace);
}

TEST(Entries, NamesOneThatIsNotFinite) {
  Matrix<float> matrix(2, 2);
  matrix(1, 0) = std::nanf("");
  const AnyMatrix broken = std::move(matrix);
  try {
    (void)summarise(broken);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_NE(std::string(error.what()).find("(1, 0)"), std::string::npos);
  }
}

}  // namespace
}  // namespace widelimit
