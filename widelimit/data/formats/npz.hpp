#pragma once

#include "widelimit/data/formats/array_file.hpp"

namespace widelimit {

/// NumPy's NPZ: a zip, stored or deflated, of NPY members.
[[nodiscard]] Dataset parse_npz(Bytes bytes, const ReadOptions& options = {});
/// Reads only the arrays that choose_arrays picks.
[[nodiscard]] Dataset read_npz(const std::filesystem::path& path, const ReadOptions& options = {});
/// All arrays.
[[nodiscard]] ArrayFile read_npz_arrays(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Writes `arrays`, and `settings` (JSON text) as the single text "settings", stored without compression: kernels do
/// not compress. Complete or absent; Error{resource} where it cannot be written. numpy.load reads it.
void write_npz(const std::filesystem::path& path, const std::vector<NamedArray>& arrays, std::string_view settings);

}  // namespace widelimit
