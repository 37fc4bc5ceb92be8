#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/hdf5/hdf5_handle.hpp"

#include <filesystem>
#include <string>

namespace widelimit {

/// An HDF5 file for reading. Where it cannot be opened, the error is the system's (no permission, too many open files);
/// where it can, and is no HDF5 file, Error{input} says so.
[[nodiscard]] Hdf5Handle open_hdf5(const std::filesystem::path& path);

/// After a call of HDF5 that failed: Error{resource} where memory was refused to it, else Error{input} that `what` of
/// `source` is damaged.
[[noreturn]] void fail_hdf5(const std::string& source, const char* what);

/// Rows of `columns` numbers to read of a dataset at a time: HDF5 cannot be asked to stop, so much is read in pieces of
/// some tenths of a second of inflating. Whole chunks, or each would be unpacked more than once.
[[nodiscard]] Index rows_at_once(hid_t dataset, Index columns);

}  // namespace widelimit
