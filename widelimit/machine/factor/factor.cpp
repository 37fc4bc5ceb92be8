#include "widelimit/machine/factor/factor.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/factor/lapack.hpp"
#include "widelimit/machine/gram/product.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

constexpr Index fill_rows = 64;
/// Rows factored between two looks at the progress; large enough that products dominate.
constexpr Index factor_block = 1024;
/// Multiply-adds between two looks: a fraction of a second on one processor.
constexpr Index most_products_unheard = 8'000'000'000;

int potrf(MatrixView<double> a) {
  const int n = lapack_size(a.rows);
  const int stride = lapack_size(a.stride);
  int info = 0;
  dpotrf_("L", &n, a.data, &stride, &info);
  return info;
}
int potrf(MatrixView<float> a) {
  const int n = lapack_size(a.rows);
  const int stride = lapack_size(a.stride);
  int info = 0;
  spotrf_("L", &n, a.data, &stride, &info);
  return info;
}

void syrk(int n, int k, const double* rows, int stride, double* c) {
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, -1.0, rows, stride, 1.0, c, stride);
}
void syrk(int n, int k, const float* rows, int stride, float* c) {
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, -1.0F, rows, stride, 1.0F, c, stride);
}

void trsm(CBLAS_TRANSPOSE transposed, int n, int m, const double* u, int ldu, double* b, int ldb) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, transposed, CblasNonUnit, n, m, 1.0, u, ldu, b, ldb);
}
void trsm(CBLAS_TRANSPOSE transposed, int n, int m, const float* u, int ldu, float* b, int ldb) {
  cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, transposed, CblasNonUnit, n, m, 1.0F, u, ldu, b, ldb);
}

/// c −= leftᵀ right.
void subtract_product(int m, int n, int k, const double* left, const double* right, int stride, double* c) {
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, -1.0, left, stride, right, stride, 1.0, c, stride);
}
void subtract_product(int m, int n, int k, const float* left, const float* right, int stride, float* c) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, -1.0F, left, stride, right, stride, 1.0F, c, stride);
}

/// Rows updated between two polls of the progress, so that a stop takes effect soon.
Index rows_at_once(Index block, Index rest) {
  return std::max<Index>(factor_block / 4, most_products_unheard / std::max<Index>(block * rest, 1));
}

double reciprocal_condition(MatrixView<double> u, double norm) {
  const int n = lapack_size(u.rows);
  std::vector<double> work(3 * static_cast<std::size_t>(n));
  std::vector<int> integers(static_cast<std::size_t>(n));
  double reciprocal = 0;
  int info = 0;
  dpocon_("L", &n, u.data, &n, &norm, &reciprocal, work.data(), integers.data(), &info);
  return reciprocal;
}
double reciprocal_condition(MatrixView<float> u, double norm) {
  const int n = lapack_size(u.rows);
  const auto rounded = static_cast<float>(norm);
  std::vector<float> work(3 * static_cast<std::size_t>(n));
  std::vector<int> integers(static_cast<std::size_t>(n));
  float reciprocal = 0;
  int info = 0;
  spocon_("L", &n, u.data, &n, &rounded, &reciprocal, work.data(), integers.data(), &info);
  return static_cast<double>(reciprocal);
}

/// What a sample of scale 0 gets on the diagonal: as large as the others, so that it does not spoil the condition.
double idle_diagonal(const RidgeMatrix& a) {
  double largest = 0;
  std::visit(
      [&](const auto& k) {
        for (Index i = 0; i < k.rows; ++i) {
          const double s = a.scale_of(i);
          largest = std::max(largest, s * s * static_cast<double>(k(i, i)));
        }
      },
      a.k);
  return largest + a.shift > 0 ? largest + a.shift : 1.0;
}

}  // namespace

template <std::floating_point T>
double fill_upper(const RidgeMatrix& a, MatrixView<T> out, int threads, Progress* progress) {
  const Index n = out.rows;
  const double idle = idle_diagonal(a);
  std::vector<double> sums(static_cast<std::size_t>(n));
  const auto fill_row = [&](const auto& k, Index i) {
    const double si = a.scale_of(i);
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(si * a.scale_of(j) * static_cast<double>(k(i, j)));
    for (Index j = i; j < n; ++j) out(i, j) = static_cast<T>(si * a.scale_of(j) * static_cast<double>(k(i, j)));
    const double diagonal = si == 0 ? idle : si * si * static_cast<double>(k(i, i)) + a.shift;
    out(i, i) = static_cast<T>(diagonal);
    sums[static_cast<std::size_t>(i)] = si == 0 ? idle : sum + std::abs(a.shift);
  };
  Pulse pulse(progress, n, "rows");
  std::visit(
      [&](const auto& k) {
        const auto fill = [&](Index strip) {
          const Index end = std::min(n, (strip + 1) * fill_rows);
          for (Index i = strip * fill_rows; i < end; ++i) fill_row(k, i);
        };
        parallel_for((n + fill_rows - 1) / fill_rows, threads, fill, [&](Index) { pulse.at(0); });
      },
      a.k);
  return *std::max_element(sums.begin(), sums.end());
}

template <std::floating_point T>
Index factor_upper(MatrixView<T> a, Progress* progress) {
  Pulse pulse(progress, a.rows, "rows");
  const int stride = lapack_size(a.stride);
  for (Index begin = 0; begin < a.rows; begin += factor_block) {
    const Index size = std::min(factor_block, a.rows - begin);
    const Index rest = a.rows - begin - size;
    const int info = potrf(a.block(begin, begin, size, size));
    if (info != 0) return begin + std::max(info, 1);
    const Index height = rows_at_once(size, rest);
    for (Index row = 0; row < rest; row += height) {
      const int count = static_cast<int>(std::min(height, rest - row));
      T* right = &a(begin, begin + size + row);
      trsm(CblasTrans, static_cast<int>(size), count, &a(begin, begin), stride, right, stride);
      pulse.at(begin);
    }
    for (Index row = 0; row < rest; row += height) {
      const Index count = std::min(height, rest - row);
      const Index beside = rest - row - count;
      const T* own = &a(begin, begin + size + row);
      T* to = &a(begin + size + row, begin + size + row);
      syrk(static_cast<int>(count), static_cast<int>(size), own, stride, to);
      if (beside > 0) {
        subtract_product(static_cast<int>(count), static_cast<int>(beside), static_cast<int>(size), own, own + count,
                         stride, to + count);
      }
      pulse.at(begin);
    }
    pulse.at(begin + size);
  }
  return 0;
}

template <std::floating_point T>
double condition_of(MatrixView<T> factor, double norm) {
  const double reciprocal = reciprocal_condition(factor, norm);
  return reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
}

template <std::floating_point T>
void solve_upper(MatrixView<const T> factor, bool transposed, MatrixView<T> b) {
  if (b.cols == 0) return;
  trsm(transposed ? CblasTrans : CblasNoTrans, lapack_size(b.rows), lapack_size(b.cols), factor.data,
       lapack_size(factor.stride), b.data, lapack_size(b.stride));
}

template double fill_upper(const RidgeMatrix&, MatrixView<float>, int, Progress*);
template double fill_upper(const RidgeMatrix&, MatrixView<double>, int, Progress*);
template Index factor_upper(MatrixView<float>, Progress*);
template Index factor_upper(MatrixView<double>, Progress*);
template double condition_of(MatrixView<float>, double);
template double condition_of(MatrixView<double>, double);
template void solve_upper(MatrixView<const float>, bool, MatrixView<float>);
template void solve_upper(MatrixView<const double>, bool, MatrixView<double>);

}  // namespace widelimit
