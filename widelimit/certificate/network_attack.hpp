#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/finite/trained_network.hpp"

namespace widelimit {

struct NetworkAttack {
  std::vector<double> distance;  ///< smallest at which another class was found; ∞: none
  Tensor<double> attacked;       ///< those samples; the sample itself where none was found
};

/// Projected gradient descent on the least margin of the network that predicts (f, or f − f₀ where centred), in its own
/// precision, within balls that grow until another class is found and shrink after: what it finds bounds every
/// certificate from above, up to the rounding of the network's own evaluation. All points in lock-step. `margin` is
/// that at the points; those where it is not positive are left alone, at distance 0.
[[nodiscard]] NetworkAttack attack_network(const TrainedNetwork& trained, const Tensor<double>& points,
                                           std::span<const Index> labels, std::span<const double> margin,
                                           const CertifyOptions& options);

}  // namespace widelimit
