#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <span>
#include <vector>

namespace widelimit::cpu {

/// Entries in host memory, without gaps unless they are a caller's own.
struct HostMemory final : EngineMatrix::Memory {
  AnyMatrix owned;
  AnyView entries;        ///< of all of it, `owned` or a caller's
  bool writable = false;  ///< a caller's own matrix is not, unless he gave it to be written to
};

/// A matrix of the processor's engine.
template <std::floating_point T>
[[nodiscard]] EngineMatrix owned(Matrix<T> matrix);
/// A caller's matrix as one of the engine.
[[nodiscard]] EngineMatrix lent(const AnyView& host, bool writable);

/// Error{usage} for a matrix of another engine.
[[nodiscard]] AnyView entries_of(const EngineMatrix& a);
template <std::floating_point T>
[[nodiscard]] MatrixView<const T> constant(const EngineMatrix& a) {
  return std::get<MatrixView<const T>>(entries_of(a));
}
/// To be written to. A matrix that a caller lent to be read is refused, since its memory may be constant.
template <std::floating_point T>
[[nodiscard]] MatrixView<T> writable(const EngineMatrix& a);
/// The same of several.
template <std::floating_point T>
[[nodiscard]] std::vector<MatrixView<T>> views_of(std::span<const EngineMatrix> matrices);

}  // namespace widelimit::cpu
