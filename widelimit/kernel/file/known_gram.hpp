#pragma once

#include "widelimit/data/origin.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/request.hpp"

#include <string>

namespace widelimit {

/// The name of the one matrix that a request computes: "ntk", "nngp" or "kernel".
[[nodiscard]] std::string gram_name(const KernelRequest& request);

/// A stored kernel that belongs to a request and its samples. Error{input} where it is of another network, of other
/// samples, or of another size.
[[nodiscard]] GramFile open_known_gram(const std::string& path, const std::string& name, Index rows, Index cols,
                                       const KernelRequest& request, const DataOrigin& origin);

}  // namespace widelimit
