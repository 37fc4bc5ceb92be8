#pragma once

#include "widelimit/data/origin.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/request.hpp"

#include <string>

namespace widelimit {

/// Name of the single matrix that a request computes: "ntk", "nngp" or "kernel".
[[nodiscard]] std::string gram_name(const KernelRequest& request);

/// Opens a stored kernel and checks that it belongs to a request and its samples. Throws Error{input} if its network,
/// samples or size differ.
[[nodiscard]] GramFile open_known_gram(const std::string& path, const std::string& name, Index rows, Index cols,
                                       const KernelRequest& request, const DataOrigin& origin);

}  // namespace widelimit
