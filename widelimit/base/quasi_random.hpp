#pragma once

#include "widelimit/base/types.hpp"

#include <array>
#include <cstdint>

namespace widelimit {

/// Sobol' sequence in base 2 with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008) and a random
/// digital shift: each point is uniform, so means are unbiased for any number of points, and different streams are
/// independent, which gives standard errors. Each value is a pure function of (seed, stream, dimension, index).
class QuasiRandom {
 public:
  static constexpr Index dimensions = 32;

  QuasiRandom(std::uint64_t seed, std::uint64_t stream);

  /// Uniform on (0, 1); dimension < dimensions, index < 2³².
  [[nodiscard]] double uniform(Index dimension, std::uint32_t index) const;
  /// Standard normal: the normal quantile of uniform().
  [[nodiscard]] double normal(Index dimension, std::uint32_t index) const;

 private:
  std::array<std::uint32_t, dimensions> shift_{};
};

}  // namespace widelimit
