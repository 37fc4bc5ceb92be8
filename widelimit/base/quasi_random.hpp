#pragma once

#include "widelimit/base/types.hpp"

#include <array>
#include <cstdint>

namespace widelimit {

/// Sobol' sequence in base 2 with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), shifted digit
/// by digit at random: every point is uniform, so means are unbiased for any number of points, and sequences of
/// different streams are independent, so that they give standard errors. A value is a pure function of
/// (seed, stream, dimension, index).
class QuasiRandom {
 public:
  static constexpr Index dimensions = 32;

  QuasiRandom(std::uint64_t seed, std::uint64_t stream);

  /// On (0, 1); dimension < dimensions, index < 2³².
  [[nodiscard]] double uniform(Index dimension, std::uint32_t index) const;
  /// Standard normal, by the quantiles of uniform().
  [[nodiscard]] double normal(Index dimension, std::uint32_t index) const;

 private:
  std::array<std::uint32_t, dimensions> shift_{};
};

}  // namespace widelimit
