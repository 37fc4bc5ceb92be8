#pragma once

#include "widelimit/certificate/attack/attack.hpp"
#include "widelimit/finite/training/trained_network.hpp"

namespace widelimit {

/// Descent on the least margin of the network that predicts (f, or f − f₀ where centred), in its own precision: what it
/// finds bounds every certificate from above, up to the rounding of the network's own evaluation. All points in step.
/// `margin` is that at the points; those where it is not positive are left alone, at distance 0. `progress` hears of
/// every step, in place of that of the options.
[[nodiscard]] Attacked attack_network(const TrainedNetwork& trained, const Tensor<double>& points,
                                      std::span<const Index> labels, std::span<const double> margin,
                                      const CertifyOptions& options, Progress* progress);

}  // namespace widelimit
