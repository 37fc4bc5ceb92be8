#include "widelimit/data/hdf5/hdf5.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/hdf5/hdf5_handle.hpp"
#include "widelimit/data/hdf5/hdf5_parts.hpp"
#include "widelimit/data/hdf5/hdf5_probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

/// Maximum expansion of a valid compressed HDF5 file.
constexpr std::size_t hdf5_expansion = 1100;
constexpr std::size_t hdf5_allowance = std::size_t{1} << 16;

/// File opened for reading; `bytes` bounds the sizes that its datasets can declare.
struct OpenFile {
  Hdf5Handle id;
  std::size_t bytes;
  std::string source;
  ReadLimits limits;
};

OpenFile open_file(const fs::path& path, const ReadLimits& limits) {
  const std::size_t size = InputFile(path).size();
  return {open_hdf5(path), size, path.string(), limits};
}

OpenFile open_image(Bytes bytes, const std::string& source, const ReadLimits& limits) {
  constexpr std::size_t increment = std::size_t{1} << 16;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, increment, 0);
  // HDF5 copies the image and does not modify it, although the parameter is not const.
  if (bytes.empty() || H5Pset_file_image(access, const_cast<std::byte*>(bytes.data()), bytes.size()) < 0) {
    fail(Code::input, "{}: an empty file is not HDF5", source);
  }
  Hdf5Handle id(H5Fopen("image", H5F_ACC_RDONLY, access), H5Fclose);
  if (!id.valid()) fail_hdf5(source, "not a readable HDF5 file");
  return {std::move(id), bytes.size(), source, limits};
}

herr_t add_dataset_name(hid_t group, const char* name, const H5L_info_t*, void* out) {
  H5O_info_t info;
  if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 && info.type == H5O_TYPE_DATASET) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  }
  return 0;
}

std::vector<std::string> dataset_names(const OpenFile& file) {
  std::vector<std::string> names;
  if (H5Literate(file.id, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_dataset_name, &names) < 0) {
    fail(Code::input, "{}: the list of its datasets is damaged", file.source);
  }
  return names;
}

/// Reads `rows` rows from row `first`.
bool read_rows(hid_t dataset, hid_t memory_type, const Array& array, Index first, Index rows, void* into) {
  const Hdf5Handle from(H5Dget_space(dataset), H5Sclose);
  std::vector<hsize_t> start(array.dims.size(), 0);
  std::vector<hsize_t> count(array.dims.begin(), array.dims.end());
  start[0] = static_cast<hsize_t>(first);
  count[0] = static_cast<hsize_t>(rows);
  const Hdf5Handle to(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
  return H5Sselect_hyperslab(from, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
         H5Dread(dataset, memory_type, to, from, H5P_DEFAULT, into) >= 0;
}

template <typename T>
Matrix<T> read_numbers(hid_t dataset, hid_t memory_type, const Array& array, const std::string& source,
                       const ReadLimits& limits) {
  Matrix<T> matrix(array.rows(), row_size(array.dims), Content::unset);
  const Index count = matrix.rows() * matrix.cols();
  const Index step = rows_at_once(dataset, matrix.cols());
  if (matrix.rows() <= step) {
    if (count > 0 && H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, matrix.data()) < 0) {
      fail_hdf5(source, "its numbers cannot be read");
    }
    return matrix;
  }
  ProgressTicker ticker(limits.progress, matrix.rows(), "rows");
  for (Index first = 0; first < matrix.rows(); first += step) {
    const Index rows = std::min(step, matrix.rows() - first);
    if (!read_rows(dataset, memory_type, array, first, rows, matrix.view().row(first))) {
      fail_hdf5(source, "its numbers cannot be read");
    }
    ticker.at(first + rows);
  }
  return matrix;
}

void require_exact(const Matrix<double>& values, const std::string& source) {
  for (Index i = 0; i < values.rows() * values.cols(); ++i) {
    if (std::abs(values.data()[i]) > exact_integers)
      fail(Code::input, "{}: an integer is not exactly representable as a double", source);
  }
}

/// Reads text of fixed length (zero-padded) or variable length.
std::vector<std::string> read_texts(hid_t object, hid_t file_type, std::size_t count, const std::string& source,
                                    bool attribute) {
  const auto read = [&](hid_t type, void* into) {
    return attribute ? H5Aread(object, type, into) : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into);
  };
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_cset(type, H5Tget_cset(file_type));
  std::vector<std::string> texts;
  if (H5Tis_variable_str(file_type) > 0) {
    H5Tset_size(type, H5T_VARIABLE);
    std::vector<char*> pointers(count, nullptr);
    if (read(type, pointers.data()) < 0) fail(Code::input, "{}: its text cannot be read", source);
    for (char* text : pointers) {
      texts.emplace_back(text != nullptr ? text : "");
      H5free_memory(text);
    }
    return texts;
  }
  const std::size_t length = H5Tget_size(file_type);
  H5Tset_size(type, length);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  std::vector<char> characters(count * length);
  if (read(type, characters.data()) < 0) fail(Code::input, "{}: its text cannot be read", source);
  for (std::size_t i = 0; i < count; ++i) {
    const char* text = characters.data() + i * length;
    texts.emplace_back(text, strnlen(text, length));
  }
  return texts;
}

std::vector<Index> dimensions(hid_t space, const std::string& source) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) fail(Code::input, "{}: it has no extent", source);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  std::vector<Index> dims;
  for (const hsize_t size : sizes) {
    if (size > static_cast<hsize_t>(PTRDIFF_MAX)) fail(Code::input, "{}: a dimension is absurd", source);
    dims.push_back(static_cast<Index>(size));
  }
  return dims;
}

bool is_contiguous(hid_t dataset) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  return H5Pget_layout(creation) == H5D_CONTIGUOUS;
}

/// Returns the bytes of one chunk, which HDF5 always loads as a whole; 0 if the dataset is not chunked.
double chunk_bytes(hid_t dataset, std::size_t element) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Pget_layout(creation) == H5D_CHUNKED ? H5Pget_chunk(creation, H5S_MAX_RANK, sizes.data()) : 0;
  double bytes = rank > 0 ? static_cast<double>(element) : 0;
  for (int k = 0; k < rank; ++k) bytes *= static_cast<double>(sizes[static_cast<std::size_t>(k)]);
  return bytes;
}

/// If `plain_numbers` is false, contiguous numbers are not read: the trial in a child process need not read what cannot
/// crash.
Array read_array(const OpenFile& file, const std::string& name, bool plain_numbers = true) {
  const std::string source = file.source + "/" + name;
  const Hdf5Handle dataset(H5Dopen2(file.id, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) {
    fail(Code::input, "{}: dataset '{}' cannot be opened; it is absent, damaged or of a newer HDF5 than {}.{}",
         file.source, name, H5_VERS_MAJOR, H5_VERS_MINOR);
  }
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const std::size_t size = H5Tget_size(type);
  if (!space.valid() || !type.valid() || size == 0 || size > (std::size_t{1} << 30)) {
    fail(Code::input, "{}: its description is damaged", source);
  }
  Array array;
  array.dims = dimensions(space, source);
  const std::size_t available = hdf5_allowance + hdf5_expansion * file.bytes;
  const Index count = checked_count(array.dims, static_cast<Index>(size), available, source);
  const H5T_class_t kind = H5Tget_class(type);
  const bool as_float = (kind == H5T_FLOAT && size <= sizeof(float)) ||
                        (kind == H5T_INTEGER && size == 1 && H5Tget_sign(type) == H5T_SGN_NONE);
  const std::size_t held = kind == H5T_STRING ? sizeof(std::string) + size : as_float ? sizeof(float) : sizeof(double);
  // A chunk is in memory twice: compressed and uncompressed.
  file.limits.require(static_cast<double>(count) * static_cast<double>(held) + 2 * chunk_bytes(dataset, size), source);
  if (!plain_numbers && kind != H5T_STRING && is_contiguous(dataset)) return array;
  if (kind == H5T_STRING) {
    array.texts = read_texts(dataset, type, static_cast<std::size_t>(count), source, false);
  } else if (as_float) {
    array.values = read_numbers<float>(dataset, H5T_NATIVE_FLOAT, array, source, file.limits);
  } else if (kind == H5T_FLOAT || kind == H5T_INTEGER) {
    Matrix<double> values = read_numbers<double>(dataset, H5T_NATIVE_DOUBLE, array, source, file.limits);
    if (kind == H5T_INTEGER) require_exact(values, source);
    array.values = std::move(values);
  } else {
    fail(Code::input, "{}: neither numbers nor text; store float32, float64 or integers", source);
  }
  return array;
}

std::string read_settings(const OpenFile& file) {
  const std::string name(settings_name);
  if (H5Aexists(file.id, name.c_str()) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(file.id, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return {};
  return read_texts(attribute, type, 1, file.source, true).front();
}

/// Returns the name of the samples, then of the labels if any. Paths into groups are not checked here: read_array
/// throws if they do not exist.
std::vector<std::string> chosen_names(const OpenFile& file, const ReadOptions& options) {
  std::vector<std::string> names = dataset_names(file);
  for (const auto& given : {options.features, options.label}) {
    if (given && given->find('/') != std::string::npos) names.push_back(*given);
  }
  const ArrayChoice choice = choose_arrays(names, options);
  std::vector<std::string> chosen{choice.features};
  if (choice.label) chosen.push_back(*choice.label);
  return chosen;
}

/// Reads in a child process first, then here.
template <typename Open>
Dataset read_samples(Open open, std::size_t bytes, const ReadOptions& options) {
  const auto try_all = [&] {
    const OpenFile file = open();
    for (const std::string& name : chosen_names(file, options)) (void)read_array(file, name, false);
  };
  try_in_child(try_all, bytes, options.source);
  const OpenFile file = open();
  const std::vector<std::string> names = chosen_names(file, options);
  Array x = read_array(file, names.front());
  std::optional<Array> y;
  if (names.size() > 1) y = read_array(file, names.back());
  return dataset_from_arrays(std::move(x), y, options.source);
}

/// Reads everything, in a child process first.
template <typename Open>
ArrayFile read_all(Open open, std::size_t bytes, const std::string& source) {
  const auto read = [&](bool plain_numbers) {
    const OpenFile file = open();
    ArrayFile all;
    for (const std::string& name : dataset_names(file)) all.arrays.emplace(name, read_array(file, name, plain_numbers));
    all.settings = read_settings(file);
    return all;
  };
  try_in_child([&] { (void)read(false); }, bytes, source);
  return read(true);
}

}  // namespace

Dataset parse_hdf5(Bytes bytes, const ReadOptions& options) {
  const Hdf5Session session;
  return read_samples([&] { return open_image(bytes, options.source, options.limits); }, bytes.size(), options);
}

Dataset read_hdf5(const fs::path& path, const ReadOptions& options) {
  const Hdf5Session session;
  return read_samples([&] { return open_file(path, options.limits); }, InputFile(path).size(), options);
}

ArrayFile read_hdf5_arrays(const fs::path& path, const ReadLimits& limits) {
  const Hdf5Session session;
  return read_all([&] { return open_file(path, limits); }, InputFile(path).size(), path.string());
}

ArrayFile parse_hdf5_arrays(Bytes bytes, const std::string& source, const ReadLimits& limits) {
  const Hdf5Session session;
  return read_all([&] { return open_image(bytes, source, limits); }, bytes.size(), source);
}

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
