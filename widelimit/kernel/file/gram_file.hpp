#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/data/hdf5/hdf5_blocks.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// A Gram matrix in an HDF5 file, read block by block; it may exceed the available memory.
class GramFile {
 public:
  /// `name` as in the file ("ntk", "test_nngp", "network2/ntk"); if absent: ntk, else nngp, else kernel, else the only
  /// matrix of the file. Throws Error{input} listing the matrices of the file, or explaining how to complete an
  /// unfinished file.
  explicit GramFile(const std::filesystem::path& path, const std::optional<std::string>& name = std::nullopt);

  [[nodiscard]] const std::string& name() const { return matrix_.name; }
  [[nodiscard]] Index rows() const { return matrix_.rows; }
  [[nodiscard]] Index cols() const { return matrix_.cols; }
  [[nodiscard]] Precision precision() const { return matrix_.precision; }
  /// Settings of the computation as JSON text; empty if the file has none.
  [[nodiscard]] const std::string& settings() const { return settings_; }
  /// All matrices of the file.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Reads the block at (row, col) of the size of `into`, in its precision.  O(block), plus the remainder of touched
  /// chunks.
  template <std::floating_point T>
  void read(Index row, Index col, MatrixView<T> into) const {
    file_.read(matrix_, row, col, into);
  }
  /// The same in the precision of the file. Throws Error{resource} if memory does not suffice.
  [[nodiscard]] AnyMatrix read(Index row, Index col, Index rows, Index cols) const;

 private:
  Hdf5Blocks file_;
  Hdf5Blocks::Extent matrix_;
  std::string settings_;
};

/// Handle to a symmetric matrix of a file that is read block by block for each product; it may exceed the available
/// memory. `memory` is the limit in bytes of the block buffers. Throws Error{input} if the matrix is not symmetric in
/// the sense of GramMatrix::asymmetry or has an entry that is not finite.  O(n²) for this check, and for each product.
[[nodiscard]] GramMatrix file_gram(GramFile file, const Engine& engine, std::size_t memory,
                                   Progress* progress = nullptr);

}  // namespace widelimit
