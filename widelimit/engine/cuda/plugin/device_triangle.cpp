#include "widelimit/engine/cuda/plugin/cuda_device.hpp"
#include "widelimit/engine/cuda/plugin/row_major.hpp"

#include <algorithm>

namespace widelimit::cuda {

namespace {

/// Row-major square blocks at equal distances, arguments of c = alpha·a·b for `count` blocks.
template <typename T>
struct Squares {
  T* first;
  Index pitch;
  Index distance;
};

template <typename T>
void multiply_squares(cublasHandle_t handle, const auto& routine, T alpha, Index edge, const Squares<T>& a,
                      const Squares<T>& b, const Squares<T>& c, Index count) {
  const T zero = 0;
  check(routine(handle, CUBLAS_OP_N, CUBLAS_OP_N, edge, edge, edge, &alpha, b.first, b.pitch, b.distance, a.first,
                a.pitch, a.distance, &zero, c.first, c.pitch, c.distance, count),
        "gemm of squares");
}

}  // namespace

void CudaDevice::solve_block(Triangle triangle, Transpose op, const Array& t, const Array& b) {
  const auto solve = [&]<typename T>(T one, const auto& vector, const auto& several) {
    const T* const factor = static_cast<const T*>(t.data);
    T* const x = static_cast<T*>(b.data);
    if (b.cols == 1) {
      check(vector(blas_, mirrored(triangle), opposite(op), CUBLAS_DIAG_NON_UNIT, b.rows, factor, leading(t), x,
                   leading(b)),
            "trsv");
    } else {
      check(several(blas_, CUBLAS_SIDE_RIGHT, mirrored(triangle), same(op), CUBLAS_DIAG_NON_UNIT, b.cols, b.rows, &one,
                    factor, leading(t), x, leading(b)),
            "trsm");
    }
  };
  if (is_single(t)) {
    solve(1.0F, blas().strsv, blas().strsm);
  } else {
    solve(1.0, blas().dtrsv, blas().dtrsm);
  }
}

/// Doubles the inverted edge per iteration: [U₁ W; 0 U₂]⁻¹ = [U₁⁻¹ −U₁⁻¹WU₂⁻¹; 0 U₂⁻¹]; lower triangles likewise.
template <typename T>
void CudaDevice::invert_squares(Triangle triangle, const Array& t, Index count, T* squares, T* inverses) {
  const Scratch between(*this, usize(count * square_rows * square_rows / 4) * sizeof(T));
  check(launch_triangle_squares(triangle, t, count, squares, inverses, stream_), "inverses of triangles");
  const auto& routine = [] {
    if constexpr (sizeof(T) == sizeof(float)) {
      return blas().sgemm_repeated;
    } else {
      return blas().dgemm_repeated;
    }
  }();
  for (Index edge = inverted_edge; edge < square_rows; edge *= 2) {
    // Entry (i, i) of all blocks lies at i·(square_rows + 1).
    const Index distance = 2 * edge * (square_rows + 1);
    const auto at = [&](T* from, Index row, Index col) {
      return Squares<T>{from + row * edge * square_rows + col * edge, square_rows, distance};
    };
    const Squares<T> product{between.as<T>(), edge, edge * edge};
    const Index i = triangle == Triangle::upper ? 0 : 1;
    const Index j = 1 - i;
    const Index pairs = count * square_rows / (2 * edge);
    multiply_squares(blas_, routine, T(1), edge, at(squares, i, j), at(inverses, j, j), product, pairs);
    multiply_squares(blas_, routine, T(-1), edge, at(inverses, i, i), product, at(inverses, i, j), pairs);
  }
}

/// Solves block by block: multiplies with the inverse of the diagonal block, then subtracts the product with the
/// remaining rows, which is memory-bound. One step of iterative refinement makes the inverse as accurate as
/// substitution for ill-conditioned blocks (Skeel 1980).
template <typename T>
void CudaDevice::solve_by_squares(Triangle triangle, Transpose op, const Array& t, const Array& b) {
  const Index n = b.rows;
  const Index whole = n / square_rows;
  const std::size_t bytes = usize(whole * square_rows * (square_rows + 1)) * sizeof(T);
  const Scratch squares(*this, bytes);
  const Scratch inverses(*this, bytes);
  const Scratch found(*this, usize(square_rows * b.cols) * sizeof(T));
  invert_squares(triangle, t, whole, squares.as<T>(), inverses.as<T>());
  const auto square_of = [&](const Scratch& all, Index k) {
    return Array{all.as<T>() + k * square_rows * (square_rows + 1), square_rows, square_rows, square_rows, t.precision};
  };
  const Array x{found.as<void>(), square_rows, b.cols, b.cols, t.precision};
  const bool forward = (triangle == Triangle::upper) == (op == Transpose::yes);
  const Index blocks = (n + square_rows - 1) / square_rows;
  for (Index step = 0; step < blocks; ++step) {
    const Index k = forward ? step : blocks - 1 - step;
    const Index begin = k * square_rows;
    const Index count = std::min(square_rows, n - begin);
    const Array own = part(b, begin, 0, count, b.cols);
    if (k == whole) {
      solve_block(triangle, op, part(t, begin, begin, count, count), own);
    } else {
      multiply_on(blas_, 1, op, square_of(inverses, k), Transpose::no, own, 0, x);
      multiply_on(blas_, -1, op, square_of(squares, k), Transpose::no, x, 1, own);
      multiply_on(blas_, 1, op, square_of(inverses, k), Transpose::no, own, 1, x);
      check(launch_convert(x, own, stream_), "copying a matrix");
    }
    const Index first = forward ? begin + count : 0;
    const Index rest = forward ? n - first : begin;
    const Array beside = op == Transpose::yes ? part(t, begin, first, count, rest) : part(t, first, begin, rest, count);
    multiply_on(blas_, -1, op, beside, Transpose::no, own, 1, part(b, first, 0, rest, b.cols));
  }
  wait();
}

void CudaDevice::solve_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) {
  const DeviceLock lock(*this);
  if (b.rows == 0 || b.cols == 0) return;
  const auto entry = is_single(t) ? sizeof(float) : sizeof(double);
  // Squares and inverses, half a square between two of them, and a block of the solution.
  const std::size_t scratch = usize(b.rows * (2 * square_rows + 2 + square_rows / 4) + square_rows * b.cols) * entry;
  if (b.rows < 2 * square_rows || scratch > facts().free_memory) {
    solve_block(triangle, op, t, b);
    return wait();
  }
  if (is_single(t)) return solve_by_squares<float>(triangle, op, t, b);
  solve_by_squares<double>(triangle, op, t, b);
}

}  // namespace widelimit::cuda
