#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/finite/training/trained_network.hpp"

namespace widelimit {

/// Certified radii of a trained network by interval bound propagation, on samples as the network sees them (scaled) and
/// labels 0 … outputs − 1, or 0 and 1 for one output (its sign). What is certified is the function that predicts: f, or
/// f − f₀ where the network is centred, with the weights that are stored, as a function on real numbers; all of this
/// program's rounding is in the bounds, which are computed in float64 for weights of either precision.
/// Uses norm, box (ℓ∞ only), radius, largest, tolerance, attack, threads and progress of the options; the method is
/// `interval` whatever is asked for, and the remark says so.
/// [docs/theory/certificates.md#finite-networks]
/// Error{usage} for a network that intervals cannot pass: attention, an activation without range, linearised.
/// Error{input} for samples of another shape, outside the box or not finite, and for labels that do not exist.
[[nodiscard]] Certificates certify_network(const TrainedNetwork& trained, const SampleView& samples,
                                           std::span<const Index> labels, const CertifyOptions& options);

}  // namespace widelimit
