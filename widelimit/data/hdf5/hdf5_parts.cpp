#include "widelimit/data/hdf5/hdf5_parts.hpp"

#include "widelimit/base/interruption.hpp"

#include <bit>

namespace widelimit {

namespace {

hid_t stored_type(const MatrixView<const float>&) { return H5T_IEEE_F32LE; }
hid_t stored_type(const MatrixView<const double>&) { return H5T_IEEE_F64LE; }
hid_t stored_type(const MatrixView<const std::int64_t>&) { return H5T_STD_I64LE; }

/// Creates the dataset and returns the offset of its numbers, or HADDR_UNDEF.
haddr_t lay_out_one(hid_t file, const NamedArray& array) {
  std::vector<hsize_t> sizes;
  for (const Index size : array.checked_dims()) sizes.push_back(static_cast<hsize_t>(size));
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
  const Hdf5Handle creation = hdf5_dataset_creation();
  const hid_t type = std::visit([](const auto& view) { return stored_type(view); }, array.values);
  const Hdf5Handle dataset(H5Dcreate2(file, array.name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                           H5Dclose);
  return dataset.valid() ? H5Dget_offset(dataset) : HADDR_UNDEF;
}

}  // namespace

std::size_t stored_bytes(const NamedArray& array) {
  return std::visit(
      [](const auto& view) { return sizeof(*view.data) * static_cast<std::size_t>(view.rows * view.cols); },
      array.values);
}

Hdf5Handle hdf5_dataset_creation() {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation, false);
  return creation;
}

Hdf5Handle hdf5_file_creation() {
  Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  return creation;
}

bool lay_out(hid_t file, const std::vector<NamedArray>& arrays, std::vector<haddr_t>& places) {
  for (const NamedArray& array : arrays) {
    places.push_back(lay_out_one(file, array));
    if (places.back() == HADDR_UNDEF && stored_bytes(array) > 0) return false;
  }
  return true;
}

void write_numbers(const Descriptor& file, const std::vector<NamedArray>& arrays, const std::vector<haddr_t>& places) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    std::visit(
        [&](const auto& view) {
          interruptible_rows(view.cols > 0 ? view.rows : 0, view.cols, [&](Index i) {
            const Bytes row = std::as_bytes(std::span(view.row(i), static_cast<std::size_t>(view.cols)));
            file.write_at(places[k] + static_cast<std::size_t>(i) * row.size(), row);
          });
        },
        arrays[k].values);
  }
}

bool write_text(hid_t file, std::string_view name, std::string_view text) {
  const std::string copy(text);
  const char* pointer = copy.c_str();
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);  // text of fixed length is limited to 64 KiB
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(file, std::string(name).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  return attribute.valid() && H5Awrite(attribute, type, &pointer) >= 0;
}

}  // namespace widelimit
