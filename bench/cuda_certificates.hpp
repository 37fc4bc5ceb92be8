#pragma once

#include "widelimit/engine/engine.hpp"

#include <optional>
#include <string>

namespace widelimit::bench {

struct CertificateSizes {
  Index train = 12'665;
  Index tests = 2'115;
  Index convex_tests = 64;  ///< points of the methods that cost the processor seconds each
  int repeats = 3;
  std::optional<Index> width = {};  ///< of trained networks, which alone are certified then
};

/// Certified radii of ridge on MNIST 0 and 1, or on made-up samples of that shape where it is absent, on an engine
/// beside the processor of the same machine, of some networks or of `only` one, and those of trained networks of finite
/// width. False where radii differ by more than a place of their grid.
[[nodiscard]] bool certificates(const Engine& engine, const std::string& only, const CertificateSizes& sizes);

}  // namespace widelimit::bench
