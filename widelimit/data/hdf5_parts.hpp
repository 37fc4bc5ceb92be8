#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/hdf5_handle.hpp"

#include <string>
#include <string_view>

/// What HDF5 itself writes of our files: descriptions and short texts. Numbers are put in their place by us, since
/// HDF5 1.10 keeps a file whose write failed in its tables and crashes when the program ends.
namespace widelimit {

/// More than the description of one array, or all of the file besides its arrays and texts, takes.
inline constexpr std::size_t hdf5_description_bytes = std::size_t{1} << 16;

[[nodiscard]] std::size_t stored_bytes(const NamedArray& array);

/// How datasets and groups are made: placed at once, unfilled, and without the time, so that equal work gives equal
/// files.
[[nodiscard]] Hdf5Handle hdf5_dataset_creation();
[[nodiscard]] Hdf5Handle hdf5_file_creation();

/// Gives `array` a description and a place in the file; returns the place, or HADDR_UNDEF.
[[nodiscard]] haddr_t lay_out(hid_t file, const NamedArray& array);

/// Text as an attribute of the root group.
[[nodiscard]] bool write_text(hid_t file, std::string_view name, std::string_view text);

}  // namespace widelimit
