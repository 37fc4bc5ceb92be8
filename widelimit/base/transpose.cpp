#include "widelimit/base/transpose.hpp"

#include <cstring>

namespace widelimit {

namespace {

/// 128-bit registers, available on every processor; wider ones do not help a memory-bound kernel.
using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));

template <typename V, typename T>
V load(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}
template <typename V, typename T>
void store(V value, T* to) {
  std::memcpy(to, &value, sizeof(V));
}

void transpose_block(const float* from, Index from_stride, float* to, Index to_stride) {
  const auto r0 = load<Floats>(from);
  const auto r1 = load<Floats>(from + from_stride);
  const auto r2 = load<Floats>(from + 2 * from_stride);
  const auto r3 = load<Floats>(from + 3 * from_stride);
  const Floats low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Floats high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Floats low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Floats high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  store<Floats>(__builtin_shufflevector(low01, low23, 0, 1, 4, 5), to);
  store<Floats>(__builtin_shufflevector(low01, low23, 2, 3, 6, 7), to + to_stride);
  store<Floats>(__builtin_shufflevector(high01, high23, 0, 1, 4, 5), to + 2 * to_stride);
  store<Floats>(__builtin_shufflevector(high01, high23, 2, 3, 6, 7), to + 3 * to_stride);
}

void transpose_block(const double* from, Index from_stride, double* to, Index to_stride) {
  const auto r0 = load<Doubles>(from);
  const auto r1 = load<Doubles>(from + from_stride);
  store<Doubles>(__builtin_shufflevector(r0, r1, 0, 2), to);
  store<Doubles>(__builtin_shufflevector(r0, r1, 1, 3), to + to_stride);
}

/// Processes blocks along the rows of `to`: writes are sequential, while a column of `from` stays in the L1 cache for
/// the adjacent columns.
template <typename T>
void transpose_of(MatrixView<const T> from, MatrixView<T> to) {
  constexpr Index block = 16 / sizeof(T);
  const Index rows = from.rows / block * block;
  const Index cols = from.cols / block * block;
  for (Index j = 0; j < cols; j += block) {
    for (Index i = 0; i < rows; i += block) transpose_block(from.row(i) + j, from.stride, to.row(j) + i, to.stride);
    for (Index k = j; k < j + block; ++k) {
      for (Index i = rows; i < from.rows; ++i) to(k, i) = from(i, k);
    }
  }
  for (Index j = cols; j < from.cols; ++j) {
    for (Index i = 0; i < from.rows; ++i) to(j, i) = from(i, j);
  }
}

}  // namespace

void transpose(MatrixView<const float> from, MatrixView<float> to) { transpose_of(from, to); }
void transpose(MatrixView<const double> from, MatrixView<double> to) { transpose_of(from, to); }

}  // namespace widelimit
