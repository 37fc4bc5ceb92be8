#include "widelimit/data/hdf5.hpp"
#include "widelimit/data/hdf5_handle.hpp"

#include <bit>

namespace widelimit {

namespace {

/// More than all descriptions and the settings take.
constexpr std::size_t description_space = std::size_t{1} << 16;

hid_t stored_type(const MatrixView<const float>&) { return H5T_IEEE_F32LE; }
hid_t stored_type(const MatrixView<const double>&) { return H5T_IEEE_F64LE; }
hid_t stored_type(const MatrixView<const std::int64_t>&) { return H5T_STD_I64LE; }

std::size_t stored_bytes(const NamedArray& array) {
  return std::visit(
      [](const auto& view) { return sizeof(*view.data) * static_cast<std::size_t>(view.rows * view.cols); },
      array.values);
}

/// Gives `array` a description and a place in the file, at once and unfilled; returns the place, or HADDR_UNDEF.
haddr_t lay_out(hid_t file, const NamedArray& array) {
  std::vector<hsize_t> sizes;
  for (const Index size : array.checked_dims()) sizes.push_back(static_cast<hsize_t>(size));
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const hid_t type = std::visit([](const auto& view) { return stored_type(view); }, array.values);
  const Hdf5Handle dataset(H5Dcreate2(file, array.name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                           H5Dclose);
  return dataset.valid() ? H5Dget_offset(dataset) : HADDR_UNDEF;
}

bool write_settings(hid_t file, std::string_view settings) {
  const std::string text(settings);
  const char* pointer = text.c_str();
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);  // text of fixed length would be limited to 64 KiB
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate2(file, std::string(settings_name).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, type, &pointer) >= 0;
}

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

/// HDF5 writes the descriptions only and says where the numbers go; we put them there. When a write of its own
/// fails, HDF5 1.10 keeps the file in its tables and crashes when the program ends, so it is left with the few
/// kilobytes whose room was checked.
void write_hdf5(const std::filesystem::path& path, const std::vector<NamedArray>& arrays, std::string_view settings) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");
  const Hdf5Session session;
  AtomicFile file(path);
  std::size_t bytes = description_space * (1 + arrays.size()) + 2 * settings.size();
  for (const NamedArray& array : arrays) bytes += stored_bytes(array);
  file.require_space(bytes);
  Hdf5Handle id(H5Fcreate(file.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  bool good = id.valid() && write_settings(id, settings);
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
