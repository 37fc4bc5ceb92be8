#include "widelimit/data/hdf5/tiled_hdf5.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/hdf5/hdf5_parts.hpp"

#include <fcntl.h>

#include <algorithm>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

bool make_group(hid_t file, const std::string& name) {
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0) return true;
  const Hdf5Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  const Hdf5Handle group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose);
  return group.valid();
}

bool lay_out_tiles(hid_t file, TiledMatrix& matrix) {
  const auto slash = matrix.name.find('/');
  if (slash != std::string::npos && !make_group(file, matrix.name.substr(0, slash))) return false;
  const hsize_t sizes[]{static_cast<hsize_t>(matrix.rows), static_cast<hsize_t>(matrix.cols)};
  const hsize_t chunk[]{static_cast<hsize_t>(matrix.chunk_rows), static_cast<hsize_t>(matrix.chunk_cols)};
  const Hdf5Handle space(H5Screate_simple(2, sizes, nullptr), H5Sclose);
  const Hdf5Handle creation = hdf5_dataset_creation();
  const bool empty = matrix.stored_bytes() == 0;
  if (!empty) H5Pset_chunk(creation, 2, chunk);
  const hid_t type = matrix.precision == Precision::f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  const Hdf5Handle dataset(H5Dcreate2(file, matrix.name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                           H5Dclose);
  if (!dataset.valid() || empty) return dataset.valid();
  // Checks that the chunks are contiguous, by the offsets of the first and the last.
  const auto last = static_cast<hsize_t>(matrix.chunks_down() * matrix.chunks_across() - 1);
  haddr_t first_place = HADDR_UNDEF;
  haddr_t last_place = HADDR_UNDEF;
  hsize_t bytes = 0;
  hsize_t origin[2];
  unsigned mask = 0;
  if (H5Dget_chunk_info(dataset, space, 0, origin, &mask, &first_place, &bytes) < 0 ||
      H5Dget_chunk_info(dataset, space, last, origin, &mask, &last_place, &bytes) < 0) {
    return false;
  }
  matrix.place = first_place;
  return first_place != HADDR_UNDEF && last_place == first_place + last * bytes;
}

/// Lays out the file and returns the offsets of `arrays`.
std::vector<haddr_t> lay_out_file(const Descriptor& file, const fs::path& path, std::vector<TiledMatrix>& matrices,
                                  const std::vector<NamedArray>& arrays, const std::vector<NamedText>& texts) {
  constexpr hsize_t page = 4096;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_alignment(access, page, page);
  const Hdf5Handle creation = hdf5_file_creation();
  Hdf5Handle id(H5Fcreate(file.own_path().c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose);
  bool good = id.valid();
  for (const auto& [name, text] : texts) good = good && write_text(id, name, text);
  std::vector<haddr_t> places;
  good = good && lay_out(id, arrays, places);
  for (TiledMatrix& matrix : matrices) good = good && lay_out_tiles(id, matrix);
  good = id.valid() && id.close() && good;
  if (!good) {
    fail(Code::resource, "cannot write '{}' as HDF5; free some space or choose another path", path.string());
  }
  return places;
}

/// Calls visit(file offset, row and column in the block, entries) for each run of entries that is contiguous in both
/// the file and the block.
template <typename T, typename Visit>
void each_run(const TiledMatrix& matrix, Index row, Index col, const MatrixView<T>& block, const Visit& visit) {
  const auto offset = [&](Index i, Index j) {
    const Index chunk = i / matrix.chunk_rows * matrix.chunks_across() + j / matrix.chunk_cols;
    const Index entry = chunk * matrix.chunk_rows * matrix.chunk_cols + i % matrix.chunk_rows * matrix.chunk_cols +
                        j % matrix.chunk_cols;
    return matrix.place + static_cast<std::uint64_t>(entry * matrix.entry_bytes());
  };
  const auto step = [](Index at, Index chunk, Index end) { return std::min(end - at, chunk - at % chunk); };
  for (Index i = row; i < row + block.rows; i += step(i, matrix.chunk_rows, row + block.rows)) {
    const Index height = step(i, matrix.chunk_rows, row + block.rows);
    for (Index j = col; j < col + block.cols; j += step(j, matrix.chunk_cols, col + block.cols)) {
      const Index width = step(j, matrix.chunk_cols, col + block.cols);
      const bool in_one = width == matrix.chunk_cols && width == block.stride;
      for (Index k = 0; k < height; k += in_one ? height : 1) {
        visit(offset(i + k, j), i + k - row, j - col, in_one ? height * width : width);
      }
    }
  }
}

}  // namespace

void create_tiled_hdf5(const fs::path& path, std::vector<TiledMatrix>& matrices, const std::vector<NamedArray>& arrays,
                       const std::vector<NamedText>& texts) {
  const Hdf5Session session;
  const Descriptor file(path, O_RDWR | O_CREAT | own_file_flags);
  require_own_file(file, path);
  file.truncate(0);
  std::size_t bytes = hdf5_description_bytes * (1 + arrays.size() + matrices.size());
  for (const NamedArray& array : arrays) bytes += stored_bytes(array);
  for (const TiledMatrix& matrix : matrices) bytes += matrix.stored_bytes();
  for (const auto& [name, text] : texts) bytes += 2 * text.size();
  file.reserve(bytes);
  const std::vector<haddr_t> places = lay_out_file(file, path, matrices, arrays, texts);
  file.reserve(file.size());
  write_numbers(file, arrays, places);
  file.sync();
}

TiledFile::TiledFile(const fs::path& path) : file_(path, O_RDWR | own_file_flags) { require_own_file(file_, path); }

template <std::floating_point T>
void TiledFile::write(const TiledMatrix& matrix, Index row, Index col, MatrixView<const T> block) const {
  each_run(matrix, row, col, block, [&](std::uint64_t offset, Index i, Index j, Index entries) {
    file_.write_at(offset, std::as_bytes(std::span(&block(i, j), static_cast<std::size_t>(entries))));
  });
}

template <std::floating_point T>
void TiledFile::read(const TiledMatrix& matrix, Index row, Index col, MatrixView<T> block) const {
  each_run(matrix, row, col, block, [&](std::uint64_t offset, Index i, Index j, Index entries) {
    file_.read_at(offset, std::as_writable_bytes(std::span(&block(i, j), static_cast<std::size_t>(entries))));
  });
}

template void TiledFile::write(const TiledMatrix&, Index, Index, MatrixView<const float>) const;
template void TiledFile::write(const TiledMatrix&, Index, Index, MatrixView<const double>) const;
template void TiledFile::read(const TiledMatrix&, Index, Index, MatrixView<float>) const;
template void TiledFile::read(const TiledMatrix&, Index, Index, MatrixView<double>) const;

}  // namespace widelimit
