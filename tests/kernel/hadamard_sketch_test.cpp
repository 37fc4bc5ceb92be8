#include "widelimit/kernel/label_aware/hadamard_sketch.hpp"

#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace widelimit {
namespace {

TEST(HadamardSketch, IsTheProductOfItsThreeMatricesWhateverTheBlock) {
  constexpr Index length = 100;
  constexpr Index rows = 40;
  const auto sketched = [&](const std::vector<double>& v, Index most_block) {
    HadamardSketch sketch(length, rows, 0.1, 1, 5, most_block);
    for (Index s = 0; s < sketch.blocks(); ++s) {
      std::vector<double> block(usize(sketch.block()), 0.0);
      for (Index k = 0; k < sketch.block() && s * sketch.block() + k < length; ++k) {
        block[usize(k)] = v[usize(s * sketch.block() + k)];
      }
      sketch.add(s, 0, block.data());
    }
    return std::vector<double>(sketch.result().data(), sketch.result().data() + rows);
  };
  const auto unit = [](Index k) {
    std::vector<double> v(length, 0.0);
    v[usize(k)] = 1;
    return v;
  };
  std::vector<double> v(length);
  std::vector<double> expected(rows, 0.0);
  const Random random(3);
  for (Index k = 0; k < length; ++k) {
    v[usize(k)] = random.normal(static_cast<std::uint64_t>(k));
    const std::vector<double> whole = sketched(unit(k), 128);
    const std::vector<double> parts = sketched(unit(k), 16);
    // The columns of PHD differ only in sign and in the order of summation.
    for (Index r = 0; r < rows; ++r) {
      EXPECT_NEAR(whole[usize(r)], parts[usize(r)], 1e-12);
      expected[usize(r)] += v[usize(k)] * whole[usize(r)];
    }
  }
  const std::vector<double> found = sketched(v, 32);
  for (Index r = 0; r < rows; ++r) EXPECT_NEAR(found[usize(r)], expected[usize(r)], 1e-11);
  // Norms are preserved in expectation: E‖PHDv‖² = rows·2^m·density·‖v‖².
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    HadamardSketch sketch(length, rows, 0.1, 1, seed);
    std::vector<double> block(usize(sketch.block()), 0.0);
    std::copy(v.begin(), v.end(), block.begin());
    sketch.add(0, 0, block.data());
    for (Index r = 0; r < rows; ++r) mean += sketch.result()(0, r) * sketch.result()(0, r) / 200;
  }
  const double square = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  EXPECT_NEAR(mean / (rows * 128 * 0.1 * square), 1, 0.06);  // the standard error is below 0.015
}

}  // namespace
}  // namespace widelimit
