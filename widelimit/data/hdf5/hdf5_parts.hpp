#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/file/descriptor.hpp"
#include "widelimit/data/hdf5/hdf5_handle.hpp"

#include <string>
#include <string_view>
#include <vector>

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

/// Gives every array a description and a place in the file, HADDR_UNDEF for one without numbers. False where that
/// fails.
[[nodiscard]] bool lay_out(hid_t file, const std::vector<NamedArray>& arrays, std::vector<haddr_t>& places);
/// Puts the numbers of arrays that were laid out in their places.
void write_numbers(const Descriptor& file, const std::vector<NamedArray>& arrays, const std::vector<haddr_t>& places);

/// Text as an attribute of the root group.
[[nodiscard]] bool write_text(hid_t file, std::string_view name, std::string_view text);

}  // namespace widelimit
