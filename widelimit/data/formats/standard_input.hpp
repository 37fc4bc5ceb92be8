#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// Returns whether `spec` names standard input: `-` for a table (CSV, TSV), or `csv:-`, `tsv:-`, `libsvm:-`, `npy:-`.
[[nodiscard]] bool names_standard_input(std::string_view spec);

/// Reads samples from standard input, plain or compressed (gz, xz). Blocks until the end of input, and polls
/// `options.limits.progress` for a stop request meanwhile. Throws Error{input} if the input is empty.
[[nodiscard]] Dataset read_standard_input(std::string_view spec, const ReadOptions& options);

}  // namespace widelimit
