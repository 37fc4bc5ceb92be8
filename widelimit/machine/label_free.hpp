#pragma once

#include "widelimit/machine/model.hpp"

#include <string_view>

namespace widelimit {

/// Error{input} where the kernel of a model knows the labels of its samples. `work` ("bounds") needs a kernel that is
/// independent of them, and says `why` it does.
void require_label_free(const Model& model, std::string_view work, std::string_view why);

}  // namespace widelimit
