#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace widelimit::cuda {

namespace {

bool is_single(const Array& a) { return a.precision == Precision::f32; }
cudaDataType type_of(const Array& a) { return is_single(a) ? CUDA_R_32F : CUDA_R_64F; }
/// Rows of ours are columns of cuBLAS: what it sees is the transpose.
cublasOperation_t same(Transpose op) { return op == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; }
cublasOperation_t opposite(Transpose op) { return op == Transpose::yes ? CUBLAS_OP_N : CUBLAS_OP_T; }
cublasFillMode_t mirrored(Triangle triangle) {
  return triangle == Triangle::upper ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
std::int64_t leading(const Array& a) { return std::max<std::int64_t>({1, a.stride, a.cols}); }

Array part(const Array& a, Index row, Index col, Index rows, Index cols) {
  const std::size_t size = is_single(a) ? sizeof(float) : sizeof(double);
  return {static_cast<char*>(a.data) + usize(row * a.stride + col) * size, rows, cols, a.stride, a.precision};
}

/// Rows of a triangle that are solved at once.
constexpr Index solved_rows = 1024;

/// cuSOLVER's routine of this kind counts entries in 32 bits.
void require_32_bits(const Array& a, const char* what) {
  if (a.rows * leading(a) <= std::numeric_limits<std::int32_t>::max()) return;
  throw Error(Code::resource,
              fmt::format("{} of {} rows is beyond cuSOLVER, which counts entries in 32 bits", what, a.rows),
              {Remedy::fewer_samples});
}

}  // namespace

template <typename T>
const T* CudaDevice::put(const Scratch& scratch, std::span<const T> values) {
  if (values.empty()) return nullptr;
  upload_bytes(values.data(), values.size_bytes(), scratch.as<void>());
  return scratch.as<T>();
}

void CudaDevice::gather(const Array& from, std::span<const Index> rows, std::span<const Index> cols, const Array& to) {
  const Turn turn(*this);
  const Scratch row_list(*this, rows.size_bytes());
  const Scratch col_list(*this, cols.size_bytes());
  check(launch_gather(from, put(row_list, rows), put(col_list, cols), to, stream_), "gathering entries");
  wait();
}

void CudaDevice::diagonal(const Array& a, double* out) {
  const Turn turn(*this);
  const Scratch scratch(*this, usize(a.rows) * sizeof(double));
  check(launch_diagonal(a, scratch.as<double>(), stream_), "reading a diagonal");
  download_bytes(scratch.as<void>(), usize(a.rows) * sizeof(double), out);
}

std::pair<bool, std::pair<Index, Index>> CudaDevice::symmetry(const Array& a, double allowed) {
  const Turn turn(*this);
  const Scratch scale(*this, usize(a.rows) * sizeof(double));
  const Scratch place(*this, 2 * sizeof(unsigned long long));
  unsigned long long found[2] = {0, std::numeric_limits<unsigned long long>::max()};
  upload_bytes(found, sizeof(found), place.as<void>());
  check(launch_symmetry(a, allowed, scale.as<double>(), place.as<unsigned long long>(), stream_), "comparing halves");
  download_bytes(place.as<void>(), sizeof(found), found);
  if (found[1] == std::numeric_limits<unsigned long long>::max()) return {found[0] == 0, {-1, -1}};
  const auto code = static_cast<Index>(found[1]);
  return {false, {code / a.rows, code % a.rows}};
}

std::uint64_t CudaDevice::checksum(const Array& a) {
  const Turn turn(*this);
  const Scratch scratch(*this, usize(a.rows) * sizeof(std::uint64_t));
  check(launch_checksum(a, scratch.as<std::uint64_t>(), stream_), "summing a matrix");
  std::vector<std::uint64_t> sums(usize(a.rows));
  download_bytes(scratch.as<void>(), sums.size() * sizeof(std::uint64_t), sums.data());
  std::uint64_t sum = static_cast<std::uint64_t>(a.cols) + (is_single(a) ? 4 : 8);
  for (const std::uint64_t row : sums) sum = (sum ^ row) * 0x9e3779b97f4a7c15ULL + 1;
  return sum;
}

double CudaDevice::scaled(const Array& k, std::span<const double> scale, std::span<const double> shift,
                          const Array& out) {
  const Turn turn(*this);
  const Scratch scales(*this, scale.size_bytes());
  const Scratch shifts(*this, shift.size_bytes());
  const Scratch scratch(*this, usize(k.rows) * sizeof(double));
  check(launch_scaled(k, put(scales, scale), put(shifts, shift), out, scratch.as<double>(), stream_), "scaling");
  std::vector<double> sums(usize(k.rows));
  download_bytes(scratch.as<void>(), sums.size() * sizeof(double), sums.data());
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

void CudaDevice::scale_rows(const Array& from, std::span<const double> weights, const Array& to) {
  const Turn turn(*this);
  const Scratch scratch(*this, weights.size_bytes());
  check(launch_scale_rows(from, put(scratch, weights), to, stream_), "scaling rows");
  wait();
}

void CudaDevice::add_to_diagonal(const Array& a, std::span<const double> shift) {
  const Turn turn(*this);
  const Scratch scratch(*this, shift.size_bytes());
  check(launch_add_to_diagonal(a, put(scratch, shift), stream_), "adding to a diagonal");
  wait();
}

double CudaDevice::symmetric_norm(const Array& a) {
  const Turn turn(*this);
  const Scratch scratch(*this, usize(a.rows) * sizeof(double));
  check(launch_symmetric_sums(a, scratch.as<double>(), stream_), "a norm");
  std::vector<double> sums(usize(a.rows));
  download_bytes(scratch.as<void>(), sums.size() * sizeof(double), sums.data());
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

void CudaDevice::column_squares(const Array& a, std::span<const double> weights, double* out) {
  const Turn turn(*this);
  const Scratch weight_list(*this, weights.size_bytes());
  const Scratch scratch(*this, usize(a.cols) * sizeof(double));
  check(cudaMemsetAsync(scratch.as<void>(), 0, usize(a.cols) * sizeof(double), stream_), "clearing memory");
  check(launch_column_squares(a, put(weight_list, weights), scratch.as<double>(), stream_), "squares of columns");
  download_bytes(scratch.as<void>(), usize(a.cols) * sizeof(double), out);
}

void CudaDevice::transpose_upper(const Array& a) {
  const Turn turn(*this);
  check(launch_transpose_upper(a, stream_), "a transposition");
  wait();
}

void CudaDevice::clear_above(const Array& a) {
  const Turn turn(*this);
  check(launch_clear_above(a, stream_), "clearing a triangle");
  wait();
}

void CudaDevice::clear(const Array& a) {
  const Turn turn(*this);
  if (a.rows == 0 || a.cols == 0) return;
  const std::size_t size = is_single(a) ? sizeof(float) : sizeof(double);
  check(cudaMemset2DAsync(a.data, usize(a.stride) * size, 0, usize(a.cols) * size, usize(a.rows), stream_),
        "clearing memory");
  wait();
}

void CudaDevice::add(const Array& from, const Array& to) {
  const Turn turn(*this);
  check(launch_add(from, to, stream_), "adding");
  wait();
}

void CudaDevice::multiply_vector(cublasHandle_t handle, double alpha, Transpose op, const Array& a, const Array& x,
                                 double beta, const Array& y) {
  if (is_single(y)) {
    const auto by = static_cast<float>(alpha);
    const auto kept = static_cast<float>(beta);
    check(blas().sgemv(handle, opposite(op), a.cols, a.rows, &by, static_cast<const float*>(a.data), leading(a),
                       static_cast<const float*>(x.data), leading(x), &kept, static_cast<float*>(y.data), leading(y)),
          "sgemv");
  } else {
    check(blas().dgemv(handle, opposite(op), a.cols, a.rows, &alpha, static_cast<const double*>(a.data), leading(a),
                       static_cast<const double*>(x.data), leading(x), &beta, static_cast<double*>(y.data), leading(y)),
          "dgemv");
  }
}

void CudaDevice::multiply_on(cublasHandle_t handle, double alpha, Transpose op_a, const Array& a, Transpose op_b,
                             const Array& b, double beta, const Array& c) {
  if (c.rows == 0 || c.cols == 0) return;
  const Index inner = op_a == Transpose::no ? a.cols : a.rows;
  if (c.cols == 1 && op_b == Transpose::no && inner > 0) return multiply_vector(handle, alpha, op_a, a, b, beta, c);
  if (is_single(c)) {
    const auto x = static_cast<float>(alpha);
    const auto y = static_cast<float>(beta);
    check(blas().sgemm(handle, same(op_b), same(op_a), c.cols, c.rows, inner, &x, static_cast<const float*>(b.data),
                       leading(b), static_cast<const float*>(a.data), leading(a), &y, static_cast<float*>(c.data),
                       leading(c)),
          "sgemm");
  } else {
    check(blas().dgemm(handle, same(op_b), same(op_a), c.cols, c.rows, inner, &alpha,
                       static_cast<const double*>(b.data), leading(b), static_cast<const double*>(a.data), leading(a),
                       &beta, static_cast<double*>(c.data), leading(c)),
          "dgemm");
  }
}

void CudaDevice::product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b, double beta,
                         const Array& c) {
  const Turn turn(*this);
  multiply_on(blas_, alpha, op_a, a, op_b, b, beta, c);
  wait();
}

void CudaDevice::start_product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b,
                               double beta, const Array& c, const Repeated& repeated) {
  const Turn turn(*this);
  if (repeated.count == 1) return multiply_on(blas_, alpha, op_a, a, op_b, b, beta, c);
  if (c.rows == 0 || c.cols == 0 || repeated.count == 0) return;
  const Index inner = op_a == Transpose::no ? a.cols : a.rows;
  constexpr Index at_once = 32768;
  const auto multiply = [&]<typename T>(T by, T kept, const auto& gemm) {
    for (Index k = 0; k < repeated.count; k += at_once) {
      check(gemm(blas_, same(op_b), same(op_a), c.cols, c.rows, inner, &by,
                 static_cast<const T*>(b.data) + k * repeated.b_step, leading(b), repeated.b_step,
                 static_cast<const T*>(a.data) + k * repeated.a_step, leading(a), repeated.a_step, &kept,
                 static_cast<T*>(c.data) + k * repeated.c_step, leading(c), repeated.c_step,
                 std::min(at_once, repeated.count - k)),
            "products");
    }
  };
  if (is_single(c)) {
    multiply(static_cast<float>(alpha), static_cast<float>(beta), blas().sgemm_repeated);
  } else {
    multiply(alpha, beta, blas().dgemm_repeated);
  }
}

void CudaDevice::self_product(const Array& x, double beta, const Array& c) {
  const Turn turn(*this);
  if (c.rows == 0) return;
  if (is_single(x)) {
    const float one = 1;
    const auto y = static_cast<float>(beta);
    check(blas().ssyrk(blas_, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, x.cols, x.rows, &one,
                       static_cast<const float*>(x.data), leading(x), &y, static_cast<float*>(c.data), leading(c)),
          "ssyrk");
  } else {
    const double one = 1;
    check(blas().dsyrk(blas_, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, x.cols, x.rows, &one,
                       static_cast<const double*>(x.data), leading(x), &beta, static_cast<double*>(c.data), leading(c)),
          "dsyrk");
  }
  wait();
}

void CudaDevice::multiply_precisely(const Array& k, const Array& v, const Array& out) {
  const Turn turn(*this);
  const Scratch partial(*this, usize(precise_segments * 2 * k.rows * v.cols) * sizeof(double));
  check(launch_precise(k, v, out, partial.as<double>(), stream_), "a precise product");
  wait();
}

void CudaDevice::multiply_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) {
  const Turn turn(*this);
  if (b.rows == 0 || b.cols == 0) return;
  if (is_single(t)) {
    const float one = 1;
    auto* const x = static_cast<float*>(b.data);
    check(blas().strmm(blas_, CUBLAS_SIDE_RIGHT, mirrored(triangle), same(op), CUBLAS_DIAG_NON_UNIT, b.cols, b.rows,
                       &one, static_cast<const float*>(t.data), leading(t), x, leading(b), x, leading(b)),
          "strmm");
  } else {
    const double one = 1;
    auto* const x = static_cast<double*>(b.data);
    check(blas().dtrmm(blas_, CUBLAS_SIDE_RIGHT, mirrored(triangle), same(op), CUBLAS_DIAG_NON_UNIT, b.cols, b.rows,
                       &one, static_cast<const double*>(t.data), leading(t), x, leading(b), x, leading(b)),
          "dtrmm");
  }
  wait();
}

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

/// In blocks of rows: the triangle of one, then its product with the rest. cuBLAS alone goes through a large triangle a
/// few columns at a time.
void CudaDevice::solve_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) {
  const Turn turn(*this);
  if (b.rows == 0 || b.cols == 0) return;
  const Index n = b.rows;
  const bool forward = (triangle == Triangle::upper) == (op == Transpose::yes);
  const Index blocks = (n + solved_rows - 1) / solved_rows;
  for (Index k = 0; k < blocks; ++k) {
    const Index begin = (forward ? k : blocks - 1 - k) * solved_rows;
    const Index count = std::min(solved_rows, n - begin);
    const Array own = part(b, begin, 0, count, b.cols);
    solve_block(triangle, op, part(t, begin, begin, count, count), own);
    const Index first = forward ? begin + count : 0;
    const Index rest = forward ? n - first : begin;
    const Array beside = op == Transpose::yes ? part(t, begin, first, count, rest) : part(t, first, begin, rest, count);
    multiply_on(blas_, -1, op, beside, Transpose::no, own, 1, part(b, first, 0, rest, b.cols));
  }
  wait();
}

Index CudaDevice::cholesky(const Array& a) {
  const Turn turn(*this);
  if (a.rows == 0) return 0;
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check(solver().potrf_size(solver_, params_, CUBLAS_FILL_MODE_LOWER, a.rows, type_of(a), a.data, leading(a),
                            type_of(a), &device_bytes, &host_bytes),
        "potrf");
  const Scratch work(*this, device_bytes);
  const Scratch info(*this, sizeof(int));
  std::vector<char> host_work(host_bytes);
  check(solver().potrf(solver_, params_, CUBLAS_FILL_MODE_LOWER, a.rows, type_of(a), a.data, leading(a), type_of(a),
                       work.as<void>(), device_bytes, host_work.data(), host_bytes, info.as<int>()),
        "potrf");
  int failed = 0;
  download_bytes(info.as<void>(), sizeof(failed), &failed);
  if (failed < 0) fail(Code::resource, "potrf of cuSOLVER refuses its argument {}", -failed);
  return failed;
}

void CudaDevice::ldl(const Array& a, double* diagonal_out, int* pivots) {
  const Turn turn(*this);
  if (a.rows == 0) return;
  require_32_bits(a, "an LDLᵀ factorisation");
  const int n = static_cast<int>(a.rows);
  auto* const entries = static_cast<double*>(a.data);
  int length = 0;
  check(solver().sytrf_size(solver_, n, entries, static_cast<int>(leading(a)), &length), "sytrf");
  const Scratch work(*this, usize(length) * sizeof(double));
  const Scratch pivot_list(*this, usize(n) * sizeof(int));
  const Scratch info(*this, sizeof(int));
  check(solver().sytrf(solver_, CUBLAS_FILL_MODE_LOWER, n, entries, static_cast<int>(leading(a)), pivot_list.as<int>(),
                       work.as<double>(), length, info.as<int>()),
        "sytrf");
  download_bytes(pivot_list.as<void>(), usize(n) * sizeof(int), pivots);
  diagonal(a, diagonal_out);
}

void CudaDevice::eigen(const Array& a, bool vectors, double* values) {
  const Turn turn(*this);
  if (a.rows == 0) return;
  const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const Scratch found(*this, usize(a.rows) * sizeof(double));
  const Scratch info(*this, sizeof(int));
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check(solver().syevd_size(solver_, params_, mode, CUBLAS_FILL_MODE_LOWER, a.rows, CUDA_R_64F, a.data, leading(a),
                            CUDA_R_64F, found.as<void>(), CUDA_R_64F, &device_bytes, &host_bytes),
        "syevd");
  const Scratch work(*this, device_bytes);
  std::vector<char> host_work(host_bytes);
  check(solver().syevd(solver_, params_, mode, CUBLAS_FILL_MODE_LOWER, a.rows, CUDA_R_64F, a.data, leading(a),
                       CUDA_R_64F, found.as<void>(), CUDA_R_64F, work.as<void>(), device_bytes, host_work.data(),
                       host_bytes, info.as<int>()),
        "syevd");
  int failed = 0;
  download_bytes(info.as<void>(), sizeof(failed), &failed);
  if (failed != 0) fail(Code::numerical, "{} eigenvalues of a matrix of {} rows did not converge", failed, a.rows);
  download_bytes(found.as<void>(), usize(a.rows) * sizeof(double), values);
}

Index CudaDevice::pivoted_block(const Array& a, Index begin, Index end, double least, Index* order, double* scratch) {
  const Turn turn(*this);
  const Scratch state_memory(*this, sizeof(PivotState));
  PivotState state;
  upload_bytes(&state, sizeof(state), state_memory.as<void>());
  for (Index j = begin; j < end; ++j) {
    check(launch_pivot(a, begin, j, least, order, scratch, state_memory.as<PivotState>(), stream_), "a pivot");
  }
  download_bytes(state_memory.as<void>(), sizeof(state), &state);
  const Index found = state.found;
  const Index rest = a.rows - begin - found;
  if (found == end - begin && rest > 0) {
    // The lower triangle of ours is the upper one of cuBLAS.
    const double minus = -1;
    const double one = 1;
    auto* const entries = static_cast<double*>(a.data);
    check(blas().dsyrk(blas_, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, rest, found, &minus,
                       entries + (begin + found) * a.stride + begin, leading(a), &one,
                       entries + (begin + found) * a.stride + begin + found, leading(a)),
          "dsyrk");
  }
  wait();
  return found;
}

}  // namespace widelimit::cuda
