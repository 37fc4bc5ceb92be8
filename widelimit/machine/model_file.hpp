#pragma once

#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"
#include "widelimit/machine/model.hpp"

#include <filesystem>

namespace widelimit {

/// Number of the format, raised when an older program could no longer read what a newer one writes.
inline constexpr int model_format = 3;

/// HDF5: datasets support (float32 or float64, supports × features), alpha, bias, shift, scale, calibration, and the
/// attribute "settings", JSON with the rest: {"format": "widelimit model", "format_number": 1, "checksum": "…",
/// "model": {…}}. The checksum is of "model", as it is printed without blanks, and then of the arrays. A sparse support
/// is what it stores (support, stored × 1) with support_columns, and support_offsets of its rows; shift and scale are
/// empty where no column has its own. Such a file is of format 2, that of a label-aware kernel, with
/// label_aware_directions and the names of a caller's pair features, of format 3; all others stay format 1, which older
/// programs read. The file appears complete or not at all; Error{input} for a model that is not valid, Error{resource}
/// where the file cannot be written.
void save_model(const std::filesystem::path& path, const Model& model);

/// Error{input} where the file is not a model, damaged, or of a later format; never half a model. What it holds is as
/// Model::validate says. No other file is read, whatever its network's text says.
[[nodiscard]] Model load_model(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same of the bytes of a whole file; `source` is for messages.
[[nodiscard]] Model parse_model(Bytes bytes, const std::string& source);

}  // namespace widelimit
