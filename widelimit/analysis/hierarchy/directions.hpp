#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>

namespace widelimit {

/// Standard normal weight vectors w of a hidden unit, in independent replicates. Along the leading principal axes of
/// the samples they are quasi-random, in the other directions random, so that w·x is quasi-random where it varies
/// most. Antithetic directions come in pairs w, −w. Every direction is a pure function of (seed, replicate, index).
class Directions {
 public:
  /// Axes of the rows of `x`.  O(n·d·min(n, d)).
  Directions(MatrixView<const double> x, bool antithetic, std::uint64_t seed, const Engine& engine);

  /// Directions first, first + 1, … of a replicate, one in each row of `to`; `first` is even where antithetic.
  void write(Index replicate, Index first, MatrixView<double> to) const;

 private:
  Matrix<double> axes_;  ///< orthonormal rows, the leading one first
  bool antithetic_;
  std::uint64_t seed_;
  const Engine& engine_;
};

}  // namespace widelimit
