#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace widelimit {

/// Options of synthetic data sets in the plane. The sets are pure functions of these options, identical on every
/// machine up to the rounding of sin and cos. The classes "0" and "1" alternate, so that every prefix is balanced.
struct SyntheticOptions {
  Index n = 400;       ///< samples
  double noise = -1;   ///< standard deviation of the noise on both coordinates; negative: the default of the set
  double turns = 1.5;  ///< spirals: number of turns of each arm
  std::uint64_t seed = 0;
};

struct Synthetic {
  std::string_view name;
  std::string_view what;
  double noise;  ///< default
  /// Computes the point of class `side` at parameter t ∈ (0, 1).
  void (*point)(double t, int side, const SyntheticOptions& options, std::uint64_t index, double* xy);
};

[[nodiscard]] std::span<const Synthetic> synthetics();

/// Throws Error{usage} if n < 2 or a number is not finite.
[[nodiscard]] Dataset make_synthetic(const Synthetic& kind, const SyntheticOptions& options);

}  // namespace widelimit
