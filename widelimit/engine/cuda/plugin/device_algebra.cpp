#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"
#include "widelimit/engine/cuda/plugin/row_major.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace widelimit::cuda {

namespace {

/// Number of terms of each entry of op(a)·b. Whether cuBLAS writes a product without terms is not documented.
Index inner_of(Transpose op_a, const Array& a) { return op_a == Transpose::no ? a.cols : a.rows; }

}  // namespace

template <typename T>
const T* CudaDevice::put(const Scratch& scratch, std::span<const T> values) {
  if (values.empty()) return nullptr;
  upload_bytes(values.data(), values.size_bytes(), scratch.as<void>());
  return scratch.as<T>();
}

void CudaDevice::gather(const Array& from, std::span<const Index> rows, std::span<const Index> cols, const Array& to) {
  const DeviceLock lock(*this);
  const Scratch row_list(*this, rows.size_bytes());
  const Scratch col_list(*this, cols.size_bytes());
  check(launch_gather(from, put(row_list, rows), put(col_list, cols), to, stream_), "gathering entries");
  wait();
}

void CudaDevice::diagonal(const Array& a, double* out) {
  const DeviceLock lock(*this);
  const Scratch scratch(*this, usize(a.rows) * sizeof(double));
  check(launch_diagonal(a, scratch.as<double>(), stream_), "reading a diagonal");
  download_bytes(scratch.as<void>(), usize(a.rows) * sizeof(double), out);
}

std::pair<bool, std::pair<Index, Index>> CudaDevice::symmetry(const Array& a, double allowed) {
  const DeviceLock lock(*this);
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
  const DeviceLock lock(*this);
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
  const DeviceLock lock(*this);
  const Scratch scales(*this, scale.size_bytes());
  const Scratch shifts(*this, shift.size_bytes());
  const Scratch scratch(*this, usize(k.rows) * sizeof(double));
  check(launch_scaled(k, put(scales, scale), put(shifts, shift), out, scratch.as<double>(), stream_), "scaling");
  std::vector<double> sums(usize(k.rows));
  download_bytes(scratch.as<void>(), sums.size() * sizeof(double), sums.data());
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

void CudaDevice::scale_rows(const Array& from, std::span<const double> weights, const Array& to) {
  const DeviceLock lock(*this);
  const Scratch scratch(*this, weights.size_bytes());
  check(launch_scale_rows(from, put(scratch, weights), to, stream_), "scaling rows");
  wait();
}

void CudaDevice::add_to_diagonal(const Array& a, std::span<const double> shift) {
  const DeviceLock lock(*this);
  const Scratch scratch(*this, shift.size_bytes());
  check(launch_add_to_diagonal(a, put(scratch, shift), stream_), "adding to a diagonal");
  wait();
}

double CudaDevice::symmetric_norm(const Array& a) {
  const DeviceLock lock(*this);
  const Scratch scratch(*this, usize(a.rows) * sizeof(double));
  check(launch_symmetric_sums(a, scratch.as<double>(), stream_), "a norm");
  std::vector<double> sums(usize(a.rows));
  download_bytes(scratch.as<void>(), sums.size() * sizeof(double), sums.data());
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

void CudaDevice::column_squares(const Array& a, std::span<const double> weights, double* out) {
  const DeviceLock lock(*this);
  const Scratch weight_list(*this, weights.size_bytes());
  const Scratch scratch(*this, usize(a.cols) * sizeof(double));
  check(cudaMemsetAsync(scratch.as<void>(), 0, usize(a.cols) * sizeof(double), stream_), "clearing memory");
  check(launch_column_squares(a, put(weight_list, weights), scratch.as<double>(), stream_), "squares of columns");
  download_bytes(scratch.as<void>(), usize(a.cols) * sizeof(double), out);
}

void CudaDevice::transpose_upper(const Array& a) {
  const DeviceLock lock(*this);
  check(launch_transpose_upper(a, stream_), "a transposition");
  wait();
}

void CudaDevice::clear_above(const Array& a) {
  const DeviceLock lock(*this);
  check(launch_clear_above(a, stream_), "clearing a triangle");
  wait();
}

void CudaDevice::clear(const Array& a) {
  const DeviceLock lock(*this);
  if (a.rows == 0 || a.cols == 0) return;
  const std::size_t size = is_single(a) ? sizeof(float) : sizeof(double);
  check(cudaMemset2DAsync(a.data, usize(a.stride) * size, 0, usize(a.cols) * size, usize(a.rows), stream_),
        "clearing memory");
  wait();
}

void CudaDevice::add(const Array& from, const Array& to) {
  const DeviceLock lock(*this);
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
  const Index inner = inner_of(op_a, a);
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
  const DeviceLock lock(*this);
  if (inner_of(op_a, a) == 0 && beta == 0) return clear(c);
  multiply_on(blas_, alpha, op_a, a, op_b, b, beta, c);
  wait();
}

void CudaDevice::start_product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b,
                               double beta, const Array& c, const Repeated& repeated) {
  const DeviceLock lock(*this);
  if (inner_of(op_a, a) == 0 && beta == 0) {
    for (Index k = 0; k < repeated.count; ++k) clear(moved(c, k * repeated.c_step));
    return;
  }
  if (repeated.count == 1) return multiply_on(blas_, alpha, op_a, a, op_b, b, beta, c);
  if (c.rows == 0 || c.cols == 0 || repeated.count == 0) return;
  const Index inner = inner_of(op_a, a);
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
  const DeviceLock lock(*this);
  if (c.rows == 0) return;
  if (beta == 0) clear(c);  // copies of the whole matrix read the other triangle
  if (beta == 0 && x.rows == 0) return;
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
  const DeviceLock lock(*this);
  const Scratch partial(*this, usize(k.rows * v.cols) * precise_bytes);
  check(launch_precise(k, v, out, partial.as<double>(), stream_), "a precise product");
  wait();
}

void CudaDevice::multiply_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) {
  const DeviceLock lock(*this);
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

}  // namespace widelimit::cuda
