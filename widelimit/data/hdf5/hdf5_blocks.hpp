#pragma once

#include "widelimit/base/matrix.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace widelimit {

/// HDF5 file open for reading blocks of its matrices, without reading a matrix as a whole. Calls from several threads
/// are serialised.
class Hdf5Blocks {
 public:
  struct Extent {
    std::string name;  ///< includes its group, if any: "network2/ntk"
    Precision precision = Precision::f64;
    Index rows = 0;
    Index cols = 0;
  };

  /// Throws Error{input} if it is not an HDF5 file or is damaged.
  explicit Hdf5Blocks(const std::filesystem::path& path);
  ~Hdf5Blocks();
  Hdf5Blocks(Hdf5Blocks&&) noexcept;
  Hdf5Blocks& operator=(Hdf5Blocks&&) noexcept;

  /// Real matrices of the root group and of its groups.
  [[nodiscard]] const std::vector<Extent>& matrices() const;
  /// Returns a text attribute of the root group, empty if absent.
  [[nodiscard]] std::string text(const std::string& attribute) const;
  /// Fills `into` with the block at (row, col) of a matrix, converting the precision. Throws Error{usage} if the block
  /// is not inside the matrix.
  void read(const Extent& matrix, Index row, Index col, MatrixView<float> into) const;
  void read(const Extent& matrix, Index row, Index col, MatrixView<double> into) const;

 private:
  class Open;
  std::unique_ptr<Open> open_;
};

}  // namespace widelimit
