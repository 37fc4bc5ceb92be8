#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <span>

namespace widelimit {

/// Error{input} unless the Gram matrix has a row for each of the samples and passes its check.
void check_box_input(const GramMatrix& k, Index samples);

/// Error{input} unless all labels are 1 or −1 and both occur.
void check_signs(std::span<const double> labels);

}  // namespace widelimit
