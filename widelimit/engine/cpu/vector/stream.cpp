#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/vector/stream.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/vector/stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Scalar prologue up to a vector boundary, whole vectors, scalar epilogue.
template <typename T>
void stream_row(const T* from, Index size, T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto misplaced = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T)) % lanes;
  Index k = std::min(size, misplaced == 0 ? 0 : lanes - misplaced);
  std::copy_n(from, k, to);
  for (; k + lanes <= size; k += lanes) hn::Stream(hn::LoadU(d, from + k), d, to + k);
  std::copy(from + k, from + size, to + k);
}

template <typename T>
void stream_rows(MatrixView<const T> from, MatrixView<T> to) {
  for (Index i = 0; i < from.rows; ++i) stream_row(from.row(i), from.cols, to.row(i));
  hwy::FlushStream();
}

/// Transposes panels of rows of `to` in the first-level cache and streams them, so that whole cache lines are written.
template <typename T>
void stream_panels(MatrixView<const T> from, MatrixView<T> to) {
  constexpr Index height = 8;
  constexpr Index width = 256;
  alignas(64) std::array<T, static_cast<std::size_t>(height * width)> memory;
  for (Index i = 0; i < from.rows; i += width) {
    const Index cols = std::min(width, from.rows - i);
    for (Index j = 0; j < from.cols; j += height) {
      const MatrixView<T> panel{memory.data(), std::min(height, from.cols - j), cols, width};
      transpose(from.block(i, j, cols, panel.rows), panel);
      for (Index k = 0; k < panel.rows; ++k) stream_row<T>(panel.row(k), cols, to.row(j + k) + i);
    }
  }
  hwy::FlushStream();
}

void stream_f32(MatrixView<const float> from, MatrixView<float> to) { stream_rows(from, to); }
void stream_f64(MatrixView<const double> from, MatrixView<double> to) { stream_rows(from, to); }
void stream_transposed_f32(MatrixView<const float> from, MatrixView<float> to) { stream_panels(from, to); }
void stream_transposed_f64(MatrixView<const double> from, MatrixView<double> to) { stream_panels(from, to); }

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(stream_f32);
HWY_EXPORT(stream_f64);
HWY_EXPORT(stream_transposed_f32);
HWY_EXPORT(stream_transposed_f64);

void stream(MatrixView<const float> from, MatrixView<float> to) { HWY_DYNAMIC_DISPATCH(stream_f32)(from, to); }
void stream(MatrixView<const double> from, MatrixView<double> to) { HWY_DYNAMIC_DISPATCH(stream_f64)(from, to); }
void stream_transposed(MatrixView<const float> from, MatrixView<float> to) {
  HWY_DYNAMIC_DISPATCH(stream_transposed_f32)(from, to);
}
void stream_transposed(MatrixView<const double> from, MatrixView<double> to) {
  HWY_DYNAMIC_DISPATCH(stream_transposed_f64)(from, to);
}

}  // namespace widelimit::cpu
#endif
