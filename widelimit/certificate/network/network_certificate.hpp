#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/finite/training/trained_network.hpp"

namespace widelimit {

/// Computes certified radii of a trained network by interval bound propagation. `scaling` maps the samples to those of
/// training (null: samples are already scaled); labels are 0 … outputs − 1, or 0 and 1 for one output (its sign).
/// Certifies the function used for prediction, f, or f − f₀ if the network is centred, with the stored weights, as a
/// real function; bounds include all rounding and are computed in float64 for weights of either precision. Uses norm,
/// units, widths, box (ℓ∞ only), radius, largest, tolerance, attack and progress of the options; the method is always
/// `interval`, as the remark states. [docs/theory/certificates.md#finite-networks] Throws Error{usage} for an
/// unsupported network (attention, an activation without a known range, linearised) and for an engine other than the
/// processor and those with layers; Error{input} for samples of another shape, outside the box or not finite, and for
/// unknown labels.
[[nodiscard]] Certificates certify_network(const TrainedNetwork& trained, const SampleView& samples,
                                           std::span<const Index> labels, const CertifyOptions& options,
                                           const Engine& engine = all_processors(), const Scaler* scaling = nullptr);

}  // namespace widelimit
