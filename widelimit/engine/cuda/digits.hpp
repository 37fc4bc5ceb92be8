#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/enclosure/both.hpp"

#include <cmath>
#include <cstdint>

/// Unit rows x̂ as integers of three signed 8-bit digits, whose products the tensor cores of all devices sum exactly:
///
///     x̂ₖ = unit·(2¹⁶d₀ + 2⁸d₁ + d₂) up to unit/2,   unit = maxₖ|x̂ₖ|/(127·2¹⁶),
///     ρ = unit·unit'·2⁸·(2²⁴S₀ + 2¹⁶S₁ + 2⁸S₂ + S₃),   S_l = Σₖ Σ_{a+b=l} d_a d'_b,
///
/// without d₂d₂'. S₃ matters if both largest entries are large (last_sum_limit). The error of ρ is then about 10⁻⁸,
/// less than the rounding error of float32, and its bits depend only on the pair, not on the shape of the product.
/// [docs/gpu.md#how-dense-kernels-are-computed]
namespace widelimit::cuda {

constexpr Index digit_count = 3;
constexpr Index digit_sums = 4;
/// Features of a row are zero-padded to a multiple of this, as are the rows and columns of a product.
constexpr Index digit_padding = 16;
constexpr double largest_integer = 127.0 * 65536.0;
/// In higher dimensions S₂, three products of at most 2¹⁴ per feature, might overflow 32 bits.
constexpr Index most_digit_dimension = ((Index{1} << 31) - 1) / (digit_count << 14);

[[nodiscard]] constexpr Index padded_count(Index count) {
  return (count + digit_padding - 1) / digit_padding * digit_padding;
}

/// Digits of all samples, stored twice: a row of `forward` holds all d₀, then all d₁ and d₂; a row of `backward` starts
/// with d₂. S_l is then one product of columns [forward_begin, …) of one with [backward_begin, …) of the other.
struct DigitRows {
  std::int8_t* forward = nullptr;   ///< digit_rows(samples) × digit_columns(features)
  std::int8_t* backward = nullptr;  ///< the same
  double* unit = nullptr;           ///< samples
};
/// A product reads whole groups of `digit_padding` rows from any sample on.
[[nodiscard]] constexpr Index digit_rows(Index samples) { return samples + digit_padding; }
[[nodiscard]] constexpr Index digit_columns(Index features) { return digit_count * padded_count(features); }
/// Columns that enter S_l, in units of digits.
struct DigitSpan {
  Index forward_begin;
  Index backward_begin;
  Index count;
};
[[nodiscard]] constexpr DigitSpan digit_span(Index l) {
  return {l > 2 ? l - 2 : 0, l < 2 ? 2 - l : 0, l < 2 ? l + 1 : 5 - l};
}

struct Digits {
  std::int8_t value[digit_count];
};
/// Digits of x/unit, which is at most `largest_integer` in magnitude.
WIDELIMIT_BOTH inline Digits digits_of(double x, double over_unit) {
  auto whole = static_cast<std::int32_t>(std::rint(x * over_unit));
  Digits digits{};
  for (int k = digit_count - 1; k > 0; --k) {
    const std::int32_t low = ((whole + 128) & 255) - 128;
    digits.value[k] = static_cast<std::int8_t>(low);
    whole = (whole - low) / 256;
  }
  digits.value[0] = static_cast<std::int8_t>(whole);
  return digits;
}

/// Returns the value of unit·unit' below which S₃ may be omitted: the error without S₃ is about
/// 2⁹·74²·√(2d)·unit·unit' (digits after the first have a root mean square of 74), and at this limit 6e-8.
[[nodiscard]] inline double last_sum_limit(Index dimension) {
  return 2 / (largest_integer * largest_integer * std::sqrt(static_cast<double>(dimension > 0 ? dimension : 1)));
}

/// Returns ρ from S₀ … S₃ and unit·unit'; pass s3 = 0 for a pair that does not need it.
WIDELIMIT_BOTH inline double digit_product(std::int32_t s0, std::int32_t s1, std::int32_t s2, std::int32_t s3,
                                           double units) {
  const std::int64_t whole = ((static_cast<std::int64_t>(s0) * 256 + s1) * 256 + s2) * 256 + s3;
  return static_cast<double>(whole) * (units * 256.0);
}

/// Threshold for t = 1 − |ρ| below which ρ is recomputed from the inputs.
constexpr double digits_near_one = 0x1p-10;

}  // namespace widelimit::cuda
