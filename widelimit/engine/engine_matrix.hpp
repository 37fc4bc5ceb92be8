#pragma once

#include "widelimit/base/types.hpp"

#include <cstddef>
#include <memory>

namespace widelimit {

/// Whether a product uses a factor as it is or transposed.
enum class Transpose : bool { no, yes };

/// Handle to a dense matrix in engine memory, or to a block of one. Copies and blocks share the entries. Only the
/// engine that made it can access them (Algebra).
class EngineMatrix {
 public:
  /// Engine-specific storage of a matrix.
  class Memory {
   public:
    virtual ~Memory() = default;
  };

  EngineMatrix() = default;
  EngineMatrix(std::shared_ptr<Memory> memory, Index rows, Index cols, Precision precision)
      : memory_(std::move(memory)), rows_(rows), cols_(cols), precision_(precision) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Precision precision() const { return precision_; }
  [[nodiscard]] bool empty() const { return memory_ == nullptr; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(rows_ * cols_) * size_of(precision_); }
  [[nodiscard]] EngineMatrix block(Index row, Index col, Index rows, Index cols) const {
    EngineMatrix part(memory_, rows, cols, precision_);
    part.row_ = row_ + row;
    part.col_ = col_ + col;
    return part;
  }

  /// For engines: the storage, and the offset of the block in it.
  [[nodiscard]] Memory* memory() const { return memory_.get(); }
  [[nodiscard]] Index first_row() const { return row_; }
  [[nodiscard]] Index first_col() const { return col_; }

 private:
  std::shared_ptr<Memory> memory_;
  Index row_ = 0;
  Index col_ = 0;
  Index rows_ = 0;
  Index cols_ = 0;
  Precision precision_ = Precision::f64;
};

}  // namespace widelimit
