#include "widelimit/data/hdf5.hpp"
#include "widelimit/data/hdf5_parts.hpp"

#include <bit>

namespace widelimit {

namespace {

void write_numbers(AtomicFile& file, haddr_t place, const NamedArray& array) {
  std::visit(
      [&](const auto& view) {
        for (Index i = 0; i < view.rows; ++i) {
          const Bytes row = std::as_bytes(std::span(view.row(i), static_cast<std::size_t>(view.cols)));
          file.write_at(place + static_cast<std::size_t>(i) * row.size(), row);
        }
      },
      array.values);
}

}  // namespace

/// HDF5 writes the descriptions only, whose room was checked, and says where the numbers go; we put them there.
void write_hdf5(const std::filesystem::path& path, const std::vector<NamedArray>& arrays, std::string_view settings) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");
  const Hdf5Session session;
  AtomicFile file(path);
  std::size_t bytes = hdf5_description_bytes * (1 + arrays.size()) + 2 * settings.size();
  for (const NamedArray& array : arrays) bytes += stored_bytes(array);
  file.require_space(bytes);
  const Hdf5Handle creation = hdf5_file_creation();
  Hdf5Handle id(H5Fcreate(file.temporary().c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT), H5Fclose);
  bool good = id.valid() && write_text(id, settings_name, settings);
  std::vector<haddr_t> places;
  for (const NamedArray& array : arrays) {
    places.push_back(good ? lay_out(id, array) : HADDR_UNDEF);
    good = good && (places.back() != HADDR_UNDEF || stored_bytes(array) == 0);
  }
  good = id.valid() && id.close() && good;
  if (!good) {
    fail(Code::resource, "cannot write '{}' as HDF5; free some space or choose another path", path.string());
  }
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (stored_bytes(arrays[k]) > 0) write_numbers(file, places[k], arrays[k]);
  }
  file.commit();
}

}  // namespace widelimit
