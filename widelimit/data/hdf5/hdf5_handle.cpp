#include "widelimit/data/hdf5/hdf5_handle.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <algorithm>
#include <array>

namespace widelimit {

namespace {

herr_t note_refusal(unsigned, const H5E_error2_t* error, void* refused) {
  if (error->min_num == H5E_NOSPACE) *static_cast<bool*>(refused) = true;
  return 0;
}

/// Returns the rows of one chunk, 1 if the dataset is not chunked.
Index chunk_rows(hid_t dataset) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const bool chunked = H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, H5S_MAX_RANK, sizes.data()) > 0;
  return chunked ? static_cast<Index>(sizes[0]) : 1;
}

}  // namespace

Index rows_at_once(hid_t dataset, Index columns) {
  constexpr Index piece = Index{1} << 23;  // numbers
  const Index chunk = chunk_rows(dataset);
  return std::max<Index>(1, piece / std::max<Index>(columns, 1) / chunk) * chunk;
}

void fail_hdf5(const std::string& source, const char* what) {
  bool refused = false;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &note_refusal, &refused);
  if (refused) fail(Code::resource, "{}: {}: there is not enough memory for it", source, what);
  fail(Code::input, "{}: {}; the file may be damaged", source, what);
}

Hdf5Handle open_hdf5(const std::filesystem::path& path) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access, false, true);  // locks fail on read-only mounts, and files are never changed in place
  Hdf5Handle id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (id.valid()) return id;
  const InputFile readable(path);  // throws if the system cannot open the file
  fail_hdf5(path.string(), "not a readable HDF5 file");
}

}  // namespace widelimit
