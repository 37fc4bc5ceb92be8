#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/file/file.hpp"

namespace widelimit {

/// Parses IDX, the format of MNIST: two zero bytes, type, number of dimensions, big-endian sizes, big-endian numbers
/// (bytes, 16- and 32-bit integers, float32, float64).
[[nodiscard]] Array parse_idx(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

/// Reads images and their labels, each plain or gz.
[[nodiscard]] Dataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                               const ReadLimits& limits = {});

}  // namespace widelimit
