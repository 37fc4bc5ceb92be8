#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/file/descriptor.hpp"
#include "widelimit/data/hdf5/hdf5_handle.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The metadata and short texts that HDF5 writes itself. Numbers are written without HDF5, since HDF5 1.10 keeps a file
/// whose write failed in its tables and crashes at program exit.
namespace widelimit {

/// Upper bound of the metadata of one array, and of the file without its arrays and texts.
inline constexpr std::size_t hdf5_description_bytes = std::size_t{1} << 16;

[[nodiscard]] std::size_t stored_bytes(const NamedArray& array);

/// Creation properties of datasets and files: allocated at once, unfilled, and without timestamps, so that equal
/// arguments give equal files.
[[nodiscard]] Hdf5Handle hdf5_dataset_creation();
[[nodiscard]] Hdf5Handle hdf5_file_creation();

/// Creates a dataset for every array and returns the file offsets of their numbers in `places`, HADDR_UNDEF for an
/// empty array. Returns false if that fails.
[[nodiscard]] bool lay_out(hid_t file, const std::vector<NamedArray>& arrays, std::vector<haddr_t>& places);
/// Writes the numbers of arrays at the offsets from lay_out.
void write_numbers(const Descriptor& file, const std::vector<NamedArray>& arrays, const std::vector<haddr_t>& places);

/// Writes text as an attribute of the root group; returns false if that fails.
[[nodiscard]] bool write_text(hid_t file, std::string_view name, std::string_view text);

}  // namespace widelimit
