#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <span>
#include <vector>

namespace widelimit::cpu {

/// Entries in host memory; contiguous unless they belong to a caller.
struct HostMemory final : EngineMatrix::Memory {
  AnyMatrix owned;
  AnyView entries;        ///< view of all entries, of `owned` or of a caller's matrix
  bool writable = false;  ///< false for a caller's matrix unless it was passed as writable
};

/// Wraps a matrix as EngineMatrix with ownership.
template <std::floating_point T>
[[nodiscard]] EngineMatrix owned(Matrix<T> matrix);
/// Wraps a caller's matrix as EngineMatrix without ownership.
[[nodiscard]] EngineMatrix lent(const AnyView& host, bool writable);

/// Returns the entries; throws Error{usage} if the matrix belongs to another engine.
[[nodiscard]] AnyView entries_of(const EngineMatrix& a);
template <std::floating_point T>
[[nodiscard]] MatrixView<const T> constant(const EngineMatrix& a) {
  return std::get<MatrixView<const T>>(entries_of(a));
}
/// Returns a writable view. Throws Error{usage} for a caller's read-only matrix, whose memory may be constant.
template <std::floating_point T>
[[nodiscard]] MatrixView<T> writable(const EngineMatrix& a);
/// The same for several matrices.
template <std::floating_point T>
[[nodiscard]] std::vector<MatrixView<T>> views_of(std::span<const EngineMatrix> matrices);

}  // namespace widelimit::cpu
