#pragma once

#include "widelimit/kernel/gram.hpp"

#include <optional>
#include <string>

namespace widelimit {

/// A Gram matrix in the memory of the engine, with the same metadata as Gram.
struct EngineGram {
  EngineMatrix nngp;  ///< empty unless requested
  EngineMatrix ntk;   ///< empty unless requested
  bool symmetric = false;
  std::string route;
  double quadrature_error = 0.0;
  double seconds = 0.0;

  /// See Gram::semidefinite.
  [[nodiscard]] bool semidefinite() const { return symmetric && quadrature_error <= 1e-12; }
};

/// Returns the kernel of x1 with itself, or of every sample of x1 with every sample of x2. Throws Error{resource} if it
/// does not fit into the memory of the engine.
[[nodiscard]] EngineGram engine_gram(const Network& network, const SampleView& x1, const std::optional<SampleView>& x2,
                                     const GramOptions& options, const Engine& engine);

}  // namespace widelimit
