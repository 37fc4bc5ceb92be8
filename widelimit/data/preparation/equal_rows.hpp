#pragma once

#include "widelimit/base/samples.hpp"

namespace widelimit {

/// Returns the number of samples that equal an earlier one; 0 for graphs, which are not compared. O(numbers).
[[nodiscard]] Index repeated_samples(const AnySamples& samples);

/// Returns the number of samples that equal one of `others`; 0 for graphs, which are not compared. The samples of both
/// have equal shapes. O(numbers of both).
[[nodiscard]] Index samples_also_in(const AnySamples& samples, const AnySamples& others);

}  // namespace widelimit
