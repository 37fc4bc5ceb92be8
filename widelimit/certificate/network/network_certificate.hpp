#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/finite/training/trained_network.hpp"

namespace widelimit {

/// Certified radii of a trained network by interval bound propagation, on samples that `scaling` takes to those it was
/// trained on (null: the samples are such), and labels 0 … outputs − 1, or 0 and 1 for one output (its sign). What is
/// certified is the function that predicts: f, or f − f₀ where the network is centred, with the stored weights, as a
/// function on real numbers; the bounds include all rounding of this program, and are computed in float64 for weights
/// of either precision. Uses norm, units, widths, box (ℓ∞ only), radius, largest, tolerance, attack and progress of the
/// options; the method is always `interval`, which the remark states. [docs/theory/certificates.md#finite-networks]
/// Error{usage} for an unsupported network: attention, an activation without a known range, linearised; and for an
/// engine other than the processor's and those with layers.
/// Error{input} for samples of another shape, outside the box or not finite, and for labels that do not exist.
[[nodiscard]] Certificates certify_network(const TrainedNetwork& trained, const SampleView& samples,
                                           std::span<const Index> labels, const CertifyOptions& options,
                                           const Engine& engine = all_processors(), const Scaler* scaling = nullptr);

}  // namespace widelimit
