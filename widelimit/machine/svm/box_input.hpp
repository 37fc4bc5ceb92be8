#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <span>

namespace widelimit {

/// Throws Error{input} unless the Gram matrix has `samples` rows and passes its check.
void check_box_input(const GramMatrix& k, Index samples);

/// Throws Error{input} unless all labels are 1 or −1 and both occur.
void check_signs(std::span<const double> labels);

}  // namespace widelimit
