#include "widelimit/engine/cuda/digits.hpp"

#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace widelimit::cuda {
namespace {

using Row = std::vector<double>;

/// Normal entries, the first one `outlier` times as large, divided by the norm.
Row unit_row(Index d, double outlier, std::uint64_t stream) {
  Row x(usize(d));
  const Random random(7, stream);
  double square = 0;
  for (Index k = 0; k < d; ++k) {
    x[usize(k)] = random.normal(static_cast<std::uint64_t>(k)) * (k == 0 ? outlier : 1.0);
    square += x[usize(k)] * x[usize(k)];
  }
  for (double& value : x) value /= std::sqrt(square);
  return x;
}

double unit_of(const Row& x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest / largest_integer;
}

std::vector<Digits> split(const Row& x) {
  const double over_unit = 1 / unit_of(x);
  std::vector<Digits> digits;
  for (const double value : x) digits.push_back(digits_of(value, over_unit));
  return digits;
}

/// ρ by digits minus ρ in long double.
double error_of(const Row& x, const Row& y) {
  const std::vector<Digits> a = split(x);
  const std::vector<Digits> b = split(y);
  std::int64_t sums[digit_sums] = {};
  long double exact = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    exact += static_cast<long double>(x[k]) * y[k];
    for (int i = 0; i < digit_count; ++i) {
      for (int j = 0; j < digit_count; ++j) {
        if (i + j < digit_sums) sums[i + j] += a[k].value[i] * b[k].value[j];
      }
    }
  }
  for (const std::int64_t sum : sums) EXPECT_LE(std::abs(sum), std::int64_t{1} << 31);
  const double units = unit_of(x) * unit_of(y);
  const auto sum = [&](int l) { return static_cast<std::int32_t>(sums[l]); };
  const std::int32_t last = units > last_sum_limit(std::ssize(x)) ? sum(3) : 0;
  return static_cast<double>(digit_product(sum(0), sum(1), sum(2), last, units) - exact);
}

TEST(Digits, GiveTheIntegerBack) {
  for (std::int32_t whole = -static_cast<std::int32_t>(largest_integer);
       whole <= static_cast<std::int32_t>(largest_integer); whole += 997) {
    const Digits digits = digits_of(whole, 1.0);
    EXPECT_EQ((digits.value[0] * 256 + digits.value[1]) * 256 + digits.value[2], whole);
  }
  for (const double end : {largest_integer, -largest_integer, 0.0}) {
    const Digits digits = digits_of(end, 1.0);
    EXPECT_EQ((digits.value[0] * 256 + digits.value[1]) * 256 + digits.value[2], end);
  }
}

/// Rounding to units has an error of √(d/6)·unit·(root mean square of x̂ = 1/√d) ≈ 0.4·unit; omitted products have a
/// root mean square of at most 6e-8. The bound is seven standard deviations over 64 pairs.
TEST(Digits, LoseLessThanFloatRounds) {
  for (const Index d : {2, 37, 784, 40'000}) {
    for (const double outlier : {1.0, 30.0, 1e4}) {
      for (std::uint64_t pair = 0; pair < 64; ++pair) {
        const Row x = unit_row(d, outlier, 2 * pair);
        const Row y = unit_row(d, outlier, 2 * pair + 1);
        EXPECT_LE(std::abs(error_of(x, y)), 7 * (6e-8 + 0.6 * std::max(unit_of(x), unit_of(y)))) << d << " " << outlier;
      }
    }
  }
}

/// Equal entries with equal lower digits: errors do not average out.
TEST(Digits, HoldWhereLowerDigitsAreEqual) {
  for (const double share : {0.3, 0.50196, 0.99}) {
    Row x(785, share / std::sqrt(784 * share * share + 1));
    x.front() /= share;
    EXPECT_LE(std::abs(error_of(x, x)), 1e-6);
  }
}

TEST(Digits, OfZerosAreZeros) {
  const Row zeros(16, 0.0);
  EXPECT_EQ(digits_of(0.0, 0.0).value[0], 0);
  EXPECT_EQ(unit_of(zeros), 0);
}

TEST(Digits, SpansMeetInTheSameDigits) {
  for (Index l = 0; l < digit_sums; ++l) {
    const DigitSpan span = digit_span(l);
    for (Index k = 0; k < span.count; ++k) {
      const Index forward = span.forward_begin + k;
      const Index backward = digit_count - 1 - (span.backward_begin + k);
      EXPECT_EQ(forward + backward, l);
      EXPECT_LT(forward, digit_count);
      EXPECT_GE(backward, 0);
    }
  }
}

TEST(Digits, SumsOfTheLargestDimensionFit) {
  EXPECT_LT(most_digit_dimension * digit_count * 128 * 128, (Index{1} << 31));
}

}  // namespace
}  // namespace widelimit::cuda
