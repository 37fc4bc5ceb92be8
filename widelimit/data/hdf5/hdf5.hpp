#pragma once

#include "widelimit/data/formats/array_file.hpp"

namespace widelimit {

/// Parses HDF5: datasets of the root group, or of a path given in the options ("/set/images"); numbers and text.
/// `bytes` is the contents of a whole file.
[[nodiscard]] Dataset parse_hdf5(Bytes bytes, const ReadOptions& options = {});
/// Reads only the arrays chosen by choose_arrays.
[[nodiscard]] Dataset read_hdf5(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads all datasets of the root group, and its attribute "settings".
[[nodiscard]] ArrayFile read_hdf5_arrays(const std::filesystem::path& path, const ReadLimits& limits = {});
[[nodiscard]] ArrayFile parse_hdf5_arrays(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

/// Writes `arrays` as datasets, and `settings` (JSON text) as attribute "settings" of the root group. The file is
/// written atomically; throws Error{resource} if it cannot be written.
void write_hdf5(const std::filesystem::path& path, const std::vector<NamedArray>& arrays, std::string_view settings);

}  // namespace widelimit
