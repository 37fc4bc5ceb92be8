#include "widelimit/data/hdf5/hdf5_blocks.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/hdf5/hdf5_handle.hpp"
#include "widelimit/data/hdf5/hdf5_probe.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

std::optional<Hdf5Blocks::Extent> describe(hid_t file, const std::string& name) {
  const Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle space(dataset.valid() ? H5Dget_space(dataset) : H5I_INVALID_HID, H5Sclose);
  const Hdf5Handle type(dataset.valid() ? H5Dget_type(dataset) : H5I_INVALID_HID, H5Tclose);
  if (!space.valid() || !type.valid() || H5Tget_class(type) != H5T_FLOAT) return std::nullopt;
  hsize_t sizes[2];
  if (H5Sget_simple_extent_ndims(space) != 2 || H5Sget_simple_extent_dims(space, sizes, nullptr) < 0) {
    return std::nullopt;
  }
  if (std::max(sizes[0], sizes[1]) > static_cast<hsize_t>(PTRDIFF_MAX)) return std::nullopt;
  return Hdf5Blocks::Extent{name, H5Tget_size(type) <= sizeof(float) ? Precision::f32 : Precision::f64,
                            static_cast<Index>(sizes[0]), static_cast<Index>(sizes[1])};
}

herr_t add_name(hid_t, const char* name, const H5L_info_t*, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

std::vector<std::string> names_in(hid_t group) {
  std::vector<std::string> names;
  H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names);
  return names;
}

H5O_type_t type_of(hid_t file, const std::string& name) {
  H5O_info_t info;
  return H5Oget_info_by_name2(file, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 ? info.type
                                                                                           : H5O_TYPE_UNKNOWN;
}

std::vector<Hdf5Blocks::Extent> find_matrices(hid_t file) {
  std::vector<std::string> names = names_in(file);
  const std::size_t top = names.size();
  for (std::size_t k = 0; k < top; ++k) {
    if (type_of(file, names[k]) != H5O_TYPE_GROUP) continue;
    const Hdf5Handle group(H5Gopen2(file, names[k].c_str(), H5P_DEFAULT), H5Gclose);
    if (!group.valid()) continue;
    for (const std::string& inner : names_in(group)) names.push_back(names[k] + "/" + inner);
  }
  std::vector<Hdf5Blocks::Extent> found;
  for (const std::string& name : names) {
    if (type_of(file, name) != H5O_TYPE_DATASET) continue;
    if (const auto extent = describe(file, name)) found.push_back(*extent);
  }
  return found;
}

/// Reads a text attribute of variable length, or of fixed length as written by other programs.
std::string read_text(hid_t file, const std::string& name) {
  if (H5Aexists(file, name.c_str()) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  const Hdf5Handle stored(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(stored) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return {};
  const Hdf5Handle type(H5Tcopy(stored), H5Tclose);
  if (H5Tis_variable_str(stored) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute, type, &text) < 0 || text == nullptr) return {};
    std::string copy(text);
    H5free_memory(text);
    return copy;
  }
  std::string text(H5Tget_size(stored), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return {};
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

/// Reads rows × cols entries at (row, col) into memory with row stride `stride`.
bool read_block(hid_t dataset, Index row, Index col, Index rows, Index cols, Index stride, hid_t type, void* into) {
  const auto size = [](Index count) { return static_cast<hsize_t>(count); };
  const hsize_t start[]{size(row), size(col)};
  const hsize_t count[]{size(rows), size(cols)};
  const hsize_t memory[]{size(rows), size(stride)};
  const hsize_t origin[]{0, 0};
  const Hdf5Handle from(H5Dget_space(dataset), H5Sclose);
  const Hdf5Handle to(H5Screate_simple(2, memory, nullptr), H5Sclose);
  return H5Sselect_hyperslab(from, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
         H5Sselect_hyperslab(to, H5S_SELECT_SET, origin, nullptr, count, nullptr) >= 0 &&
         H5Dread(dataset, type, to, from, H5P_DEFAULT, into) >= 0;
}

}  // namespace

class Hdf5Blocks::Open {
 public:
  explicit Open(const fs::path& path) : path_(path) {
    const Hdf5Session session;
    try_in_child([&] { (void)try_all(path); }, InputFile(path).size(), path.string());
    file_.emplace(open_hdf5(path));
    matrices_ = find_matrices(*file_);
  }
  ~Open() {
    const Hdf5Session session;
    file_.reset();
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  [[nodiscard]] const std::vector<Extent>& matrices() const { return matrices_; }
  [[nodiscard]] std::string text(const std::string& attribute) const {
    const Hdf5Session session;
    return read_text(*file_, attribute);
  }
  void read(const Extent& matrix, Index row, Index col, Index rows, Index cols, Index stride, bool single,
            void* into) const {
    if (row < 0 || col < 0 || rows < 0 || cols < 0 || row > matrix.rows - rows || col > matrix.cols - cols) {
      fail(Code::usage, "a block of {} × {} at ({}, {}) is not inside {}, which is {} × {}", rows, cols, row, col,
           matrix.name, matrix.rows, matrix.cols);
    }
    if (rows == 0 || cols == 0) return;
    const Hdf5Session session;
    const Hdf5Handle dataset(H5Dopen2(*file_, matrix.name.c_str(), H5P_DEFAULT), H5Dclose);
    const hid_t type = single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    const auto require = [&](bool read) {
      if (!read) fail_hdf5(path_.string() + "/" + matrix.name, "it cannot be read");
    };
    require(dataset.valid());
    const Index step = rows_at_once(dataset, cols);
    const Index row_bytes = stride * static_cast<Index>(single ? sizeof(float) : sizeof(double));
    for (Index i = row; i < row + rows;) {
      const Index end = std::min(row + rows, (i / step + 1) * step);
      auto* to = static_cast<std::byte*>(into) + (i - row) * row_bytes;
      require(read_block(dataset, i, col, end - i, cols, stride, type, to));
      interruption_point();
      i = end;
    }
  }

 private:
  /// Performs every kind of access once, in a child process that may crash.
  static bool try_all(const fs::path& path) {
    const Hdf5Handle file = open_hdf5(path);
    for (const Extent& matrix : find_matrices(file)) {
      const Hdf5Handle dataset(H5Dopen2(file, matrix.name.c_str(), H5P_DEFAULT), H5Dclose);
      double corner = 0;
      if (matrix.rows == 0 || matrix.cols == 0) continue;
      if (!read_block(dataset, matrix.rows - 1, matrix.cols - 1, 1, 1, 1, H5T_NATIVE_DOUBLE, &corner)) {
        fail(Code::input, "{}: {} cannot be read; the file is damaged", path.string(), matrix.name);
      }
    }
    return true;
  }

  fs::path path_;
  std::optional<Hdf5Handle> file_;
  std::vector<Extent> matrices_;
};

Hdf5Blocks::Hdf5Blocks(const fs::path& path) : open_(std::make_unique<Open>(path)) {}
Hdf5Blocks::~Hdf5Blocks() = default;
Hdf5Blocks::Hdf5Blocks(Hdf5Blocks&&) noexcept = default;
Hdf5Blocks& Hdf5Blocks::operator=(Hdf5Blocks&&) noexcept = default;

const std::vector<Hdf5Blocks::Extent>& Hdf5Blocks::matrices() const { return open_->matrices(); }
std::string Hdf5Blocks::text(const std::string& attribute) const { return open_->text(attribute); }

void Hdf5Blocks::read(const Extent& matrix, Index row, Index col, MatrixView<float> into) const {
  open_->read(matrix, row, col, into.rows, into.cols, into.stride, true, into.data);
}
void Hdf5Blocks::read(const Extent& matrix, Index row, Index col, MatrixView<double> into) const {
  open_->read(matrix, row, col, into.rows, into.cols, into.stride, false, into.data);
}

}  // namespace widelimit
