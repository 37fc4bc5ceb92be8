#pragma once

#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"
#include "widelimit/machine/model.hpp"

#include <filesystem>

namespace widelimit {

/// Format number, incremented if older programs cannot read newer files.
inline constexpr int model_format = 3;

/// Writes a model as HDF5: datasets support (float32 or float64, supports × features), alpha, bias, shift, scale,
/// calibration, and the attribute "settings", JSON with the rest: {"format": "widelimit model", "format_number": 1,
/// "checksum": "…", "model": {…}}. The checksum covers "model", printed without blanks, followed by the arrays. A
/// sparse support is stored as its nonzeros (support, stored × 1) with support_columns, and support_offsets of its
/// rows; shift and scale are empty if they do not differ by column. Sparse files have format 2; files of a label-aware
/// kernel, with label_aware_directions and the names of user-defined pair features, have format 3; all others have
/// format 1, which older programs read. The file is written atomically. Throws Error{input} for an invalid model,
/// Error{resource} if the file cannot be written.
void save_model(const std::filesystem::path& path, const Model& model);

/// Reads a model. Throws Error{input} if the file is not a model, is damaged, or has a later format. The result passes
/// Model::validate. No other file is read, regardless of the text of the network.
[[nodiscard]] Model load_model(const std::filesystem::path& path, const ReadLimits& limits = {});
/// Same from the contents of a file; `source` is used in messages.
[[nodiscard]] Model parse_model(Bytes bytes, const std::string& source);

}  // namespace widelimit
