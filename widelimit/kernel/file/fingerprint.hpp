#pragma once

#include "widelimit/base/samples.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace widelimit {

/// What a stored Gram is of, by name: samples, network, kind, precision. Two works with one fingerprint are the same
/// work, whatever machine, back end, memory or number of threads does it.
using Fingerprint = nlohmann::ordered_json;

/// "1797 samples of 8x8x1, 64-bit checksum 0f3c…": depends on every value, its type and the order of the samples.
/// O(n·d)
[[nodiscard]] std::string describe_samples(const SampleView& x);

/// "precision: f32 there, f64 here; …", empty where they are equal.
[[nodiscard]] std::string difference(const Fingerprint& there, const Fingerprint& here);

}  // namespace widelimit
