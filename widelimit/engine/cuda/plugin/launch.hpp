#pragma once

#include "widelimit/engine/cuda/array.hpp"
#include "widelimit/engine/cuda/dense_program.hpp"

#include <cuda_runtime.h>

#include <cstdint>

/// Launches of the plug-in's own kernels on a stream; pointers refer to device memory. Each returns its launch error.
namespace widelimit::cuda {

cudaError_t launch_convert(const Array& from, const Array& to, cudaStream_t stream);
cudaError_t launch_gather(const Array& from, const Index* rows, const Index* cols, const Array& to,
                          cudaStream_t stream);
cudaError_t launch_diagonal(const Array& a, double* out, cudaStream_t stream);
/// Sets found[0] to 1 if the matrix is not exactly symmetric, and found[1] to the smallest i·n + j of an offending
/// pair; initialise them to 0 and the largest value. `scale`: scratch buffer of n values.
cudaError_t launch_symmetry(const Array& a, double allowed, double* scale, unsigned long long* found,
                            cudaStream_t stream);
/// Sums of hashed entries, one per row.
cudaError_t launch_checksum(const Array& a, std::uint64_t* sums, cudaStream_t stream);
/// `scale` and `shift` may be null; sums[i] becomes the absolute sum of row i.
cudaError_t launch_scaled(const Array& k, const double* scale, const double* shift, const Array& out, double* sums,
                          cudaStream_t stream);
cudaError_t launch_scale_rows(const Array& from, const double* weights, const Array& to, cudaStream_t stream);
cudaError_t launch_add_to_diagonal(const Array& a, const double* shift, cudaStream_t stream);
cudaError_t launch_symmetric_sums(const Array& a, double* sums, cudaStream_t stream);
cudaError_t launch_column_squares(const Array& a, const double* weights, double* out, cudaStream_t stream);
cudaError_t launch_transpose_upper(const Array& a, cudaStream_t stream);
cudaError_t launch_clear_above(const Array& a, cudaStream_t stream);
cudaError_t launch_add(const Array& from, const Array& to, cudaStream_t stream);

/// out = k·v in twice the precision of float64; `partial` has precise_segments·2·n·v.cols values.
cudaError_t launch_precise(const Array& k, const Array& v, const Array& out, double* partial, cudaStream_t stream);

/// Copies `count` diagonal blocks of `square_rows` rows of a triangle to `squares`, with zeros in the other half, and
/// writes to `inverses` the inverses of their diagonal blocks of `inverted_edge` rows, zeros elsewhere. Consecutive
/// blocks of both are square_rows·(square_rows + 1) elements apart, so that all diagonal entries are equally spaced.
constexpr Index square_rows = 512;
constexpr Index inverted_edge = 32;
cudaError_t launch_triangle_squares(Triangle triangle, const Array& t, Index count, float* squares, float* inverses,
                                    cudaStream_t stream);
cudaError_t launch_triangle_squares(Triangle triangle, const Array& t, Index count, double* squares, double* inverses,
                                    cudaStream_t stream);

/// Computes column j of a block, starting at `begin`, of a pivoted Cholesky factorisation; does nothing after a column
/// without a pivot. `state` counts the columns with a pivot.
struct PivotState {
  Index pivot = 0;
  Index found = 0;
  double left = 0.0;
  bool stopped = false;
};
cudaError_t launch_pivot(const Array& a, Index begin, Index j, double least, Index* order, double* taken,
                         PivotState* state, cudaStream_t stream);

cudaError_t launch_digits(const Array& unit, const DigitRows& to, cudaStream_t stream);
/// Runs the steps on the pairs of a tile, given the products of their unit rows: float64 values, or, for digits, S₀,
/// S₁, … stored one after the other, each with padded_count(rows)·stride integers. Sets `overflow` to the smallest code
/// of an overflowing entry (overflow_code).
cudaError_t launch_dense(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                         cudaStream_t stream);
/// The same for a chain with products by digits.
cudaError_t launch_chain(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                         cudaStream_t stream);
constexpr unsigned long long no_overflow = ~0ULL;

}  // namespace widelimit::cuda
