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

/// An array of any number of dimensions, as NPY, NPZ, IDX and HDF5 files hold it. float32 and bytes become float,
/// all other numbers double; integers beyond 2^53 are refused, not rounded.
struct Array {
  std::vector<Index> dims;         ///< empty for a single value
  AnyMatrix values;                ///< dims[0] rows, the other dimensions in a row; 1 × 1 for a single value
  std::vector<std::string> texts;  ///< in place of values where the array holds text

  [[nodiscard]] Index rows() const { return dims.empty() ? 1 : dims.front(); }
};

/// A non-owning array with its name in a file; `dims` empty means rows × cols.
struct NamedArray {
  std::string name;
  std::variant<MatrixView<const float>, MatrixView<const double>, MatrixView<const std::int64_t>> values;
  std::vector<Index> dims;

  /// Error{usage} unless dims, where given, multiply to rows · cols.
  [[nodiscard]] std::vector<Index> checked_dims() const;
};

/// Number of elements of `dims`. Error{input} unless that many elements of `element_bytes` each fit into `available`
/// bytes, so that a damaged header costs nothing. Where a dimension is zero the others still may not overflow.
[[nodiscard]] Index checked_count(std::span<const Index> dims, Index element_bytes, std::size_t available,
                                  const std::string& source);

/// Elements in one row: the product of all dimensions but the first, which checked_count has passed.
[[nodiscard]] Index row_size(std::span<const Index> dims);

/// x: n, n × d, n × H × W or n × H × W × C. y: nothing, or one value per sample, numbers or text.
/// Error{input} for other shapes, for numbers that are not finite, and for counts that differ.
[[nodiscard]] Dataset dataset_from_arrays(Array x, const std::optional<Array>& y, const std::string& source);

/// Error{input} with the place of the first number that is not finite, samples counted from `first` on.
void require_finite(const AnySamples& values, const std::string& source, Index first = 0);

}  // namespace widelimit
