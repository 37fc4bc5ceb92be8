#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace widelimit {

/// Small sets in the plane made on the spot: pure functions of their arguments, the same on every machine up to the
/// rounding of sin and cos. Two classes "0" and "1" that take turns, so that every prefix is balanced.
struct SyntheticOptions {
  Index n = 400;       ///< samples
  double noise = -1;   ///< standard deviation of what is added to both coordinates; negative: the set's own default
  double turns = 1.5;  ///< spirals: how often each arm goes round
  std::uint64_t seed = 0;
};

struct Synthetic {
  std::string_view name;
  std::string_view what;
  double noise;  ///< default
  /// The point of class `side` at place t ∈ (0, 1) along the class.
  void (*point)(double t, int side, const SyntheticOptions& options, std::uint64_t index, double* xy);
};

[[nodiscard]] std::span<const Synthetic> synthetics();

/// Error{usage} for a size below 2 or numbers that are not finite.
[[nodiscard]] Dataset make_synthetic(const Synthetic& kind, const SyntheticOptions& options);

}  // namespace widelimit
