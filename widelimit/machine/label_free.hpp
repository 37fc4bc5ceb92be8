#pragma once

#include "widelimit/machine/model.hpp"

#include <string_view>

namespace widelimit {

/// Throws Error{input} if the model has a label-aware kernel. `work` ("bounds") names the operation that requires a
/// label-independent kernel, `why` the reason.
void require_label_free(const Model& model, std::string_view work, std::string_view why);

}  // namespace widelimit
