#pragma once

#include "widelimit/engine/cuda/array.hpp"
#include "widelimit/engine/cuda/dense_program.hpp"

#include <cuda_runtime.h>

#include <cstdint>

/// The plug-in's own kernels, launched on a stream; pointers are to device memory. Each returns the error of its
/// launch.
namespace widelimit::cuda {

cudaError_t launch_convert(const Array& from, const Array& to, cudaStream_t stream);
cudaError_t launch_gather(const Array& from, const Index* rows, const Index* cols, const Array& to,
                          cudaStream_t stream);
cudaError_t launch_diagonal(const Array& a, double* out, cudaStream_t stream);
/// found[0] becomes 1 where halves differ at all, found[1] the least i·n + j of an offending pair; both start at 0 and
/// the largest number. `scale` is of n numbers.
cudaError_t launch_symmetry(const Array& a, double allowed, double* scale, unsigned long long* found,
                            cudaStream_t stream);
/// Sums of mixed entries, one for each row.
cudaError_t launch_checksum(const Array& a, std::uint64_t* sums, cudaStream_t stream);
/// `scale` and `shift` may be null; sums[i] is row i of the absolute values.
cudaError_t launch_scaled(const Array& k, const double* scale, const double* shift, const Array& out, double* sums,
                          cudaStream_t stream);
cudaError_t launch_scale_rows(const Array& from, const double* weights, const Array& to, cudaStream_t stream);
cudaError_t launch_add_to_diagonal(const Array& a, const double* shift, cudaStream_t stream);
cudaError_t launch_symmetric_sums(const Array& a, double* sums, cudaStream_t stream);
cudaError_t launch_column_squares(const Array& a, const double* weights, double* out, cudaStream_t stream);
cudaError_t launch_transpose_upper(const Array& a, cudaStream_t stream);
cudaError_t launch_clear_above(const Array& a, cudaStream_t stream);
cudaError_t launch_add(const Array& from, const Array& to, cudaStream_t stream);

/// out = k·v in twice the precision of float64; `partial` has precise_segments·2·n·v.cols numbers.
constexpr Index precise_segments = 32;
cudaError_t launch_precise(const Array& k, const Array& v, const Array& out, double* partial, cudaStream_t stream);

/// The squares of `square_rows` rows on the diagonal of a triangle, `count` of them, with zeros in their other half,
/// and in `inverses` the inverses of the `inverted_edge` rows on their diagonals, with zeros beside them. Squares of
/// both are square_rows·(square_rows + 1) numbers apart, so that all diagonals have one distance.
constexpr Index square_rows = 512;
constexpr Index inverted_edge = 32;
cudaError_t launch_triangle_squares(Triangle triangle, const Array& t, Index count, float* squares, float* inverses,
                                    cudaStream_t stream);
cudaError_t launch_triangle_squares(Triangle triangle, const Array& t, Index count, double* squares, double* inverses,
                                    cudaStream_t stream);

/// Column j of a block of a pivoted Cholesky factorisation that begins at `begin`; after a column without a pivot
/// nothing more happens. `state` counts the columns that had one.
struct PivotState {
  Index pivot = 0;
  Index found = 0;
  double left = 0.0;
  bool stopped = false;
};
cudaError_t launch_pivot(const Array& a, Index begin, Index j, double least, Index* order, double* taken,
                         PivotState* state, cudaStream_t stream);

cudaError_t launch_digits(const Array& unit, const DigitRows& to, cudaStream_t stream);
/// The pairs of a tile from the products of their unit rows: numbers in float64, or for digits S₀, S₁, … one after the
/// other, each of padded_count(rows)·stride integers. `overflow` becomes the least code of an entry that left its range
/// (overflow_code).
cudaError_t launch_dense(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                         cudaStream_t stream);
/// The same of a chain with products by digits.
cudaError_t launch_chain(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                         cudaStream_t stream);
constexpr unsigned long long no_overflow = ~0ULL;

}  // namespace widelimit::cuda
