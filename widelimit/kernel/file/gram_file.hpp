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

/// A Gram in an HDF5 file, read block by block: it may be larger than memory.
class GramFile {
 public:
  /// `name` as in the file ("ntk", "test_nngp", "network2/ntk"); absent: ntk, else nngp, else kernel, else the only
  /// matrix there is. Error{input} lists what there is, or says how to finish a file that is not complete.
  explicit GramFile(const std::filesystem::path& path, const std::optional<std::string>& name = std::nullopt);

  [[nodiscard]] const std::string& name() const { return matrix_.name; }
  [[nodiscard]] Index rows() const { return matrix_.rows; }
  [[nodiscard]] Index cols() const { return matrix_.cols; }
  [[nodiscard]] Precision precision() const { return matrix_.precision; }
  /// JSON text of how it came to be; empty where the file has none.
  [[nodiscard]] const std::string& settings() const { return settings_; }
  /// All matrices of the file.
  [[nodiscard]] std::vector<std::string> names() const;

  /// The block at (row, col) of the size of `into`, in its precision.  O(block), plus the rest of chunks it touches.
  template <std::floating_point T>
  void read(Index row, Index col, MatrixView<T> into) const {
    file_.read(matrix_, row, col, into);
  }
  /// In the precision of the file. Error{resource} where memory does not suffice.
  [[nodiscard]] AnyMatrix read(Index row, Index col, Index rows, Index cols) const;

 private:
  Hdf5Blocks file_;
  Hdf5Blocks::Extent matrix_;
  std::string settings_;
};

/// A symmetric matrix of a file as a handle, read block by block for each product: it may be larger than memory.
/// `memory` bytes are for the blocks. Error{input} where it is not symmetric, as GramMatrix::asymmetry says, or holds
/// an entry that is not finite.  O(n²) to check it once, and for each product.
[[nodiscard]] GramMatrix file_gram(GramFile file, const Engine& engine, std::size_t memory,
                                   Progress* progress = nullptr);

}  // namespace widelimit
