#pragma once

#include "widelimit/kernel/gram.hpp"

#include <optional>
#include <string>

namespace widelimit {

/// A Gram matrix that stays where the engine works, and how it was computed: as Gram.
struct EngineGram {
  EngineMatrix nngp;  ///< empty unless asked for
  EngineMatrix ntk;   ///< empty unless asked for
  bool symmetric = false;
  std::string route;
  double quadrature_error = 0.0;
  double seconds = 0.0;

  /// As Gram says.
  [[nodiscard]] bool semidefinite() const { return symmetric && quadrature_error <= 1e-12; }
};

/// Kernel of x1 with itself, or of every sample of x1 with every sample of x2. Error{resource} where the memory of the
/// engine does not hold it.
[[nodiscard]] EngineGram engine_gram(const Network& network, const SampleView& x1, const std::optional<SampleView>& x2,
                                     const GramOptions& options, const Engine& engine);

}  // namespace widelimit
