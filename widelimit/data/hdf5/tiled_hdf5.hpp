#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/file/descriptor.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace widelimit {

/// Matrix of an HDF5 file that is written tile by tile. It is stored in chunks of equal size, row-major without gaps
/// (HDF5's implicit index), so that the offset of every entry can be computed and written without HDF5.
struct TiledMatrix {
  std::string name;  ///< optionally with a group: "network2/ntk"
  Precision precision = Precision::f64;
  Index rows = 0;
  Index cols = 0;
  Index chunk_rows = 0;
  Index chunk_cols = 0;
  std::uint64_t place = 0;  ///< offset of the first chunk; set when the file is created

  [[nodiscard]] Index entry_bytes() const { return precision == Precision::f32 ? 4 : 8; }
  [[nodiscard]] Index chunks_across() const { return cols == 0 ? 0 : (cols + chunk_cols - 1) / chunk_cols; }
  [[nodiscard]] Index chunks_down() const { return rows == 0 ? 0 : (rows + chunk_rows - 1) / chunk_rows; }
  /// Includes the padding of the last chunks.
  [[nodiscard]] std::size_t stored_bytes() const {
    return static_cast<std::size_t>(chunks_down() * chunks_across() * chunk_rows * chunk_cols * entry_bytes());
  }
};

using NamedText = std::pair<std::string, std::string>;

/// Creates a complete HDF5 file (readable with version 1.10 and later) at `path`: `arrays` with their numbers, `texts`
/// as attributes of the root group, and `matrices` with their `place` set but without numbers, which read as zero. Disk
/// space is reserved. Equal arguments give equal bytes. Throws Error{resource} if it cannot be written.
void create_tiled_hdf5(const std::filesystem::path& path, std::vector<TiledMatrix>& matrices,
                       const std::vector<NamedArray>& arrays, const std::vector<NamedText>& texts);

/// Tiled file, open for blocks of its matrices. Thread-safe for disjoint blocks.
class TiledFile {
 public:
  /// Throws Error{resource} if it cannot be opened for writing.
  explicit TiledFile(const std::filesystem::path& path);

  [[nodiscard]] std::uint64_t bytes() const { return file_.size(); }
  /// Write or read `block` at (row, col) of a matrix of the same precision. Throws Error{resource} if the disk is full.
  template <std::floating_point T>
  void write(const TiledMatrix& matrix, Index row, Index col, MatrixView<const T> block) const;
  template <std::floating_point T>
  void read(const TiledMatrix& matrix, Index row, Index col, MatrixView<T> block) const;
  /// Waits until all data is on the disk.
  void sync() const { file_.sync(); }

 private:
  Descriptor file_;
};

}  // namespace widelimit
