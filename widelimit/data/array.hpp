#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// Array of any number of dimensions, as read from NPY, NPZ, IDX and HDF5 files. float32 and bytes become float, all
/// other numbers double; integers beyond 2^53 are rejected, not rounded.
struct Array {
  std::vector<Index> dims;         ///< empty for a scalar
  AnyMatrix values;                ///< dims[0] rows, the other dimensions flattened; 1 × 1 for a scalar
  std::vector<std::string> texts;  ///< instead of values if the array holds text

  [[nodiscard]] Index rows() const { return dims.empty() ? 1 : dims.front(); }
};

/// Non-owning array with its name in a file; empty `dims` means rows × cols.
struct NamedArray {
  std::string name;
  std::variant<MatrixView<const float>, MatrixView<const double>, MatrixView<const std::int64_t>> values;
  std::vector<Index> dims;

  /// Returns `dims`, or {rows, cols} if empty. Throws Error{usage} if their product differs from rows · cols.
  [[nodiscard]] std::vector<Index> checked_dims() const;
};

/// Returns the number of elements of `dims`. Throws Error{input} unless that many elements of `element_bytes` each fit
/// into `available` bytes, so that a damaged header causes no allocation. If a dimension is zero, the others still must
/// not overflow.
[[nodiscard]] Index checked_count(std::span<const Index> dims, Index element_bytes, std::size_t available,
                                  const std::string& source);

/// Returns the number of elements per row: the product of all dimensions but the first, which checked_count has
/// validated.
[[nodiscard]] Index row_size(std::span<const Index> dims);

/// Makes a data set from x: n, n × d, n × H × W or n × H × W × C, and optional y: one number or text per sample. Throws
/// Error{input} for other shapes, non-finite numbers and unequal counts.
[[nodiscard]] Dataset dataset_from_arrays(Array x, const std::optional<Array>& y, const std::string& source);

/// Throws Error{input} with the position of the first non-finite number; sample numbers start at `first`.
void require_finite(const AnySamples& values, const std::string& source, Index first = 0);

}  // namespace widelimit
