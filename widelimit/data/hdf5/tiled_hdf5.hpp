#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/file/descriptor.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace widelimit {

/// A matrix of an HDF5 file that is filled in tile by tile. It lies there in chunks of equal size, row by row of
/// chunks, without gaps (HDF5 calls that an implicit index), so that the place of every entry is arithmetic and can
/// be written without HDF5.
struct TiledMatrix {
  std::string name;  ///< "ntk", or with a group: "network2/ntk"
  Precision precision = Precision::f64;
  Index rows = 0;
  Index cols = 0;
  Index chunk_rows = 0;
  Index chunk_cols = 0;
  std::uint64_t place = 0;  ///< byte at which the first chunk begins; set when the file is made

  [[nodiscard]] Index entry_bytes() const { return precision == Precision::f32 ? 4 : 8; }
  [[nodiscard]] Index chunks_across() const { return cols == 0 ? 0 : (cols + chunk_cols - 1) / chunk_cols; }
  [[nodiscard]] Index chunks_down() const { return rows == 0 ? 0 : (rows + chunk_rows - 1) / chunk_rows; }
  /// With the unused rim of the last chunks.
  [[nodiscard]] std::size_t stored_bytes() const {
    return static_cast<std::size_t>(chunks_down() * chunks_across() * chunk_rows * chunk_cols * entry_bytes());
  }
};

using NamedText = std::pair<std::string, std::string>;

/// Makes a complete HDF5 file (of version 1.10 and later) at `path`: `arrays` with their numbers, `texts` as
/// attributes of the root group, and `matrices` with a place, set here, but no numbers: they read as zero. Its room
/// on the disk is reserved. Equal arguments give equal bytes. Error{resource} where it cannot be written.
void create_tiled_hdf5(const std::filesystem::path& path, std::vector<TiledMatrix>& matrices,
                       const std::vector<NamedArray>& arrays, const std::vector<NamedText>& texts);

/// Such a file, open for blocks of its matrices. Calls from several threads are fine as long as their blocks are
/// apart.
class TiledFile {
 public:
  /// Error{resource} where it cannot be opened for writing.
  explicit TiledFile(const std::filesystem::path& path);

  [[nodiscard]] std::uint64_t bytes() const { return file_.size(); }
  /// `block` at (row, col) of a matrix of its precision. Error{resource} where the disk is full.
  template <std::floating_point T>
  void write(const TiledMatrix& matrix, Index row, Index col, MatrixView<const T> block) const;
  template <std::floating_point T>
  void read(const TiledMatrix& matrix, Index row, Index col, MatrixView<T> block) const;
  /// Waits until all is on the disk.
  void sync() const { file_.sync(); }

 private:
  Descriptor file_;
};

}  // namespace widelimit
