#pragma once

#include "widelimit/engine/engine.hpp"

#include <optional>
#include <string>

namespace widelimit::bench {

struct CertificateSizes {
  Index train = 12'665;
  Index tests = 2'115;
  Index convex_tests = 64;  ///< points of the methods that take the CPU seconds per point
  int repeats = 3;
  std::optional<Index> width = {};  ///< if set, only trained networks of this width are certified
};

/// Certified radii of ridge on MNIST 0 and 1 (synthetic samples of that shape if it is absent) on an engine, compared
/// with the CPU of the same machine, for some networks or for `only` one, and those of trained networks of finite
/// width. Returns false if radii differ by more than one step of their grid.
[[nodiscard]] bool certificates(const Engine& engine, const std::string& only, const CertificateSizes& sizes);

}  // namespace widelimit::bench
