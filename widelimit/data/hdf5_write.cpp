#include "widelimit/data/hdf5.hpp"

#include "widelimit/data/hdf5_handle.hpp"

namespace widelimit {

namespace {

hid_t stored_type(const MatrixView<const float>&) { return H5T_IEEE_F32LE; }
hid_t stored_type(const MatrixView<const double>&) { return H5T_IEEE_F64LE; }
hid_t stored_type(const MatrixView<const std::int64_t>&) { return H5T_STD_I64LE; }
hid_t memory_type(const MatrixView<const float>&) { return H5T_NATIVE_FLOAT; }
hid_t memory_type(const MatrixView<const double>&) { return H5T_NATIVE_DOUBLE; }
hid_t memory_type(const MatrixView<const std::int64_t>&) { return H5T_NATIVE_INT64; }

std::size_t stored_bytes(const NamedArray& array) {
  return std::visit(
      [](const auto& view) { return sizeof(*view.data) * static_cast<std::size_t>(view.rows * view.cols); },
      array.values);
}

bool write_array(hid_t file, const NamedArray& array) {
  std::vector<hsize_t> sizes;
  for (const Index size : array.checked_dims()) sizes.push_back(static_cast<hsize_t>(size));
  return std::visit(
      [&](const auto& view) {
        const Hdf5Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
        const Hdf5Handle dataset(
            H5Dcreate2(file, array.name.c_str(), stored_type(view), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            H5Dclose);
        if (!dataset.valid()) return false;
        if (view.rows * view.cols == 0) return true;
        // In memory: rows × stride, of which the first cols columns; so a window on a larger matrix needs no copy.
        const hsize_t extent[2] = {static_cast<hsize_t>(view.rows), static_cast<hsize_t>(view.stride)};
        const hsize_t start[2] = {0, 0};
        const hsize_t count[2] = {static_cast<hsize_t>(view.rows), static_cast<hsize_t>(view.cols)};
        const Hdf5Handle memory(H5Screate_simple(2, extent, nullptr), H5Sclose);
        return H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
               H5Dwrite(dataset, memory_type(view), memory, H5S_ALL, H5P_DEFAULT, view.data) >= 0;
      },
      array.values);
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

}  // namespace

void write_hdf5(const std::filesystem::path& path, const std::vector<NamedArray>& arrays, std::string_view settings) {
  const Hdf5Session session;
  AtomicFile file(path);
  std::size_t bytes = 0;
  for (const NamedArray& array : arrays) bytes += stored_bytes(array);
  file.require_space(bytes);
  Hdf5Handle id(H5Fcreate(file.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  bool good = id.valid() && write_settings(id, settings);
  for (const NamedArray& array : arrays) good = good && write_array(id, array);
  good = id.valid() && id.close() && good;
  if (!good) {
    fail(Code::resource, "cannot write '{}' as HDF5; free some space or choose another path", path.string());
  }
  file.commit();
}

}  // namespace widelimit
