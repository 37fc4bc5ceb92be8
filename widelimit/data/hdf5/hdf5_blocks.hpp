#pragma once

#include "widelimit/base/matrix.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace widelimit {

/// An HDF5 file open for blocks of its matrices, none of which is read as a whole. Calls from several threads wait for
/// each other.
class Hdf5Blocks {
 public:
  struct Extent {
    std::string name;  ///< with its group where it is in one: "network2/ntk"
    Precision precision = Precision::f64;
    Index rows = 0;
    Index cols = 0;
  };

  /// Error{input} where it is not an HDF5 file, or a damaged one.
  explicit Hdf5Blocks(const std::filesystem::path& path);
  ~Hdf5Blocks();
  Hdf5Blocks(Hdf5Blocks&&) noexcept;
  Hdf5Blocks& operator=(Hdf5Blocks&&) noexcept;

  /// Real matrices of the root group and of the groups in it.
  [[nodiscard]] const std::vector<Extent>& matrices() const;
  /// A text attribute of the root group, empty where there is none.
  [[nodiscard]] std::string text(const std::string& attribute) const;
  /// Fills `into` from (row, col) of a matrix, whatever its precision. Error{usage} where the block is not inside.
  void read(const Extent& matrix, Index row, Index col, MatrixView<float> into) const;
  void read(const Extent& matrix, Index row, Index col, MatrixView<double> into) const;

 private:
  class Open;
  std::unique_ptr<Open> open_;
};

}  // namespace widelimit
