#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>

namespace widelimit {

/// Standard normal weight vectors w of a hidden unit, in independent replicates. They are quasi-random along the
/// leading principal axes of the samples and pseudo-random in the other directions, so that w·x is quasi-random where
/// it varies most. Antithetic directions come in pairs w, −w. Each direction is a function of (samples, seed,
/// replicate, index), the same on every engine up to the rounding of its matrix products.
class Directions {
 public:
  /// Computes the principal axes of the rows of `x`, on the cpu for every engine: eigenvectors of close eigenvalues
  /// turn freely with the rounding of an engine, and directions with them. O(n·d·min(n, d)).
  Directions(MatrixView<const double> x, bool antithetic, std::uint64_t seed, const Engine& engine);

  [[nodiscard]] Index features() const { return axes_.cols(); }
  /// Writes directions first, first + 1, … of a replicate to the rows of `to`; `first` must be even if antithetic.
  void write(Index replicate, Index first, MatrixView<double> to) const;

 private:
  Matrix<double> axes_;  ///< orthonormal rows, by descending eigenvalue
  bool antithetic_;
  std::uint64_t seed_;
  const Engine& engine_;
};

}  // namespace widelimit
