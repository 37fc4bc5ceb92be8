#include "widelimit/data/file/file.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/data/hdf5/hdf5_parts.hpp"

namespace widelimit {

/// HDF5 writes the metadata only, in reserved space, and returns the offsets at which the numbers are then written.
void write_hdf5(const std::filesystem::path& path, const std::vector<NamedArray>& arrays, std::string_view settings) {
  const Hdf5Session session;
  AtomicFile file(path);
  std::size_t bytes = hdf5_description_bytes * (1 + arrays.size()) + 2 * settings.size();
  for (const NamedArray& array : arrays) bytes += stored_bytes(array);
  file.file().reserve(bytes);
  const Hdf5Handle creation = hdf5_file_creation();
  Hdf5Handle id(H5Fcreate(file.file().own_path().c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT), H5Fclose);
  std::vector<haddr_t> places;
  bool good = id.valid() && write_text(id, settings_name, settings) && lay_out(id, arrays, places);
  good = id.valid() && id.close() && good;
  if (!good) {
    fail(Code::resource, "cannot write '{}' as HDF5; free some space or choose another path", path.string());
  }
  write_numbers(file.file(), arrays, places);
  file.commit();
}

}  // namespace widelimit
