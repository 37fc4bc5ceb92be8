#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// Whether `spec` names standard input: `-` for a table (CSV, TSV), or `csv:-`, `tsv:-`, `libsvm:-`, `npy:-`.
[[nodiscard]] bool names_standard_input(std::string_view spec);

/// Samples that another program writes, plain or packed as files may be (gz, xz). Waits until they have come, and asks
/// `options.limits.progress` meanwhile whether to stop. Error{input} where nothing comes.
[[nodiscard]] Dataset read_standard_input(std::string_view spec, const ReadOptions& options);

}  // namespace widelimit
