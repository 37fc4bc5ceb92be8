#include "widelimit/kernel/file/gram_file.hpp"

#include "widelimit/data/hdf5/hdf5.hpp"

#include "tests/kernel/gram_file_fixture.hpp"

#include <cmath>
#include <limits>

namespace widelimit::test {
namespace {

constexpr double ulp = std::numeric_limits<double>::epsilon();

/// A symmetric matrix whose diagonal bounds its entries.
Matrix<double> symmetric(Index n) {
  const Matrix<double> x = normal_rows(n, 7, 3);
  Matrix<double> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      for (Index c = 0; c < 7; ++c) k(i, j) += x(i, c) * x(j, c);
      k(j, i) = k(i, j);
    }
  }
  return k;
}

class FileGram : public ::testing::Test {
 protected:
  [[nodiscard]] GramFile written(const Matrix<double>& k) const {
    const auto path = folder_.path() / "k.h5";
    write_hdf5(path, {{"ntk", k.view(), {}}}, "");
    return GramFile(path);
  }
  TemporaryFolder folder_;
};

TEST_F(FileGram, MultipliesAsTheMatrixInMemoryDoes) {
  for (const Index n : {1, 37, 700}) {
    const Matrix<double> k = symmetric(n);
    const Matrix<double> v = normal_rows(n, 3, 5);
    for (const std::size_t memory :
         {std::size_t{2} * 8 * 16 * 16, std::size_t{2} * 8 * 512 * 512, std::size_t{1} << 30}) {
      const GramMatrix read = file_gram(written(k), *cpu, memory);
      EXPECT_FALSE(read.held());
      EXPECT_LE(read.bytes(), memory);
      EXPECT_EQ(read.samples(), n);
      EXPECT_EQ(read.check(), 0);
      Matrix<double> found(n, 3);
      read.multiply(v.view(), found.view());
      for (Index i = 0; i < n; ++i) {
        EXPECT_EQ(read.diagonal()[usize(i)], k(i, i));
        for (Index c = 0; c < 3; ++c) {
          double sum = 0;
          double size = 0;
          for (Index j = 0; j < n; ++j) {
            sum += k(i, j) * v(j, c);
            size += std::abs(k(i, j) * v(j, c));
          }
          EXPECT_NEAR(found(i, c), sum, 2 * static_cast<double>(n) * ulp * size);
        }
      }
      const std::vector<Index> chosen{n - 1, 0};
      const Matrix<double> columns = read.columns(chosen);
      for (Index i = 0; i < n; ++i) EXPECT_EQ(columns(i, 0), k(i, n - 1));
    }
  }
}

TEST_F(FileGram, RefusesWhatIsNoGramMatrix) {
  Matrix<double> k = symmetric(40);
  const std::size_t memory = std::size_t{2} * 8 * 16 * 16;
  k(3, 33) += 1e-14;
  EXPECT_NO_THROW((void)file_gram(written(k), *cpu, memory));
  k(3, 33) += 1;
  const Error asymmetric = thrown_error([&] { (void)file_gram(written(k), *cpu, memory); });
  EXPECT_EQ(asymmetric.code(), Code::input);
  EXPECT_NE(std::string(asymmetric.what()).find("(3, 33)"), std::string::npos) << asymmetric.what();
  k(3, 33) = k(33, 3) = std::nan("");
  EXPECT_EQ(thrown_code([&] { (void)file_gram(written(k), *cpu, memory); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)file_gram(written(normal_rows(4, 3, 1)), *cpu, memory); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)file_gram(written(symmetric(3)), *cpu, 8); }), Code::resource);
  StopAfter stop(1);
  EXPECT_EQ(thrown_code([&] { (void)file_gram(written(symmetric(90)), *cpu, memory, &stop); }), Code::interrupted);
}

}  // namespace
}  // namespace widelimit::test
