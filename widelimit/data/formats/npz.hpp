#pragma once

#include "widelimit/data/formats/array_file.hpp"

namespace widelimit {

/// Parses NumPy's NPZ: a zip file of NPY members, stored or deflated.
[[nodiscard]] Dataset parse_npz(Bytes bytes, const ReadOptions& options = {});
/// Reads only the arrays chosen by choose_arrays.
[[nodiscard]] Dataset read_npz(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads all arrays.
[[nodiscard]] ArrayFile read_npz_arrays(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Writes `arrays`, and `settings` (JSON text) as the scalar string "settings". Members are stored uncompressed, since
/// kernels do not compress. The file is written atomically; throws Error{resource} if it cannot be written. numpy.load
/// can read it.
void write_npz(const std::filesystem::path& path, const std::vector<NamedArray>& arrays, std::string_view settings);

}  // namespace widelimit
