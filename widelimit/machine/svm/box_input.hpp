#pragma once

#include "widelimit/base/samples.hpp"

#include <span>

namespace widelimit {

/// Error{input} unless the Gram matrix has a row for each of the samples and passes check_gram, whose answer is
/// returned.
[[nodiscard]] double check_box_input(const AnyView& k, Index samples, int threads);

/// Error{input} unless all labels are 1 or −1 and both occur.
void check_signs(std::span<const double> labels);

}  // namespace widelimit
