#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/hdf5/hdf5_handle.hpp"

#include <filesystem>
#include <string>

namespace widelimit {

/// Opens an HDF5 file for reading. If the system cannot open it, throws the system's error (no permission, too many
/// open files); if it is not an HDF5 file, throws Error{input}.
[[nodiscard]] Hdf5Handle open_hdf5(const std::filesystem::path& path);

/// Call after a failed HDF5 call. Throws Error{resource} if HDF5 failed to allocate memory, else Error{input}, since
/// the file may be damaged. `source` and `what` begin the message.
[[noreturn]] void fail_hdf5(const std::string& source, const char* what);

/// Returns how many rows of `columns` numbers to read at once. HDF5 cannot be interrupted, so data is read in pieces of
/// some tenths of a second. Pieces are whole chunks, so that no chunk is decompressed more than once.
[[nodiscard]] Index rows_at_once(hid_t dataset, Index columns);

}  // namespace widelimit
