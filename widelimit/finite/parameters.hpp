#pragma once

#include "widelimit/finite/architecture.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// One trained matrix and its bias, standard normal at the start; the scales stay outside (NTK parameterisation).
struct Weights {
  std::vector<double> w;  ///< fan_in × fan_out, row-major
  std::vector<double> b;  ///< fan_out values, empty without bias
};

/// All trained numbers of a network, slot by slot.
struct Parameters {
  std::vector<Weights> slots;
};

/// Weights at initialisation: entry `index` of slot l is a pure function of (seed, l, index), so the same on any
/// number of threads and in any order.
[[nodiscard]] Parameters draw_parameters(const Architecture& architecture, std::uint64_t seed);

}  // namespace widelimit
