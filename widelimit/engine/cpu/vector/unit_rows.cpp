#include "widelimit/engine/cpu/vector/unit_rows.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/cpu/normalise.hpp"
#include "widelimit/engine/host/sparse_product.hpp"

#include <algorithm>
#include <utility>

namespace widelimit::cpu {

namespace {

template <typename T>
T half_distance(const T* x1, const T* x2, T sign, Index d) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < d; ++k) {
    const T difference = x1[k] - sign * x2[k];
    sum += difference * difference;
  }
  return sum / 2;
}

}  // namespace

template <typename T>
Variances UnitRows<T>::load(const SampleView& x, Index d, int threads) {
  if (const SparseView* rows = x.sparse()) {
    SparseMatrix unit = SparseMatrix::copy(*rows);
    Variances variances = normalise_rows(unit, threads);
    rows_ = std::move(unit);
    return variances;
  }
  Matrix<T> unit(x.count(), d, Content::unset);
  Variances variances = normalise_rows(x, d, unit.view(), threads);
  rows_ = std::move(unit);
  return variances;
}

template <typename T>
std::size_t UnitRows<T>::bytes(const SampleView& x, Index d) {
  if (x.sparse() != nullptr) return usize(x.longest()) * sparse_entry_bytes + sizeof(std::int64_t);
  return usize(d) * sizeof(T);
}

template <typename T>
void UnitRows<T>::multiply(Range rows, const UnitRows& other, Range cols, bool on_diagonal,
                           MatrixView<T> products) const {
  if (rows_.index() != other.rows_.index()) {
    fail(Code::usage, "one set of samples is sparse, the other dense; load both in the same format");
  }
  if (is_sparse()) {
    return host::sparse_product(sparse().part(rows.begin, rows.size()), other.sparse().part(cols.begin, cols.size()),
                                products);
  }
  const MatrixView<const T> left = dense().block(rows.begin, 0, rows.size(), dense().cols);
  if (on_diagonal) return syrk<T>(1, Transpose::no, left, 0, products);
  gemm<T>(1, Transpose::no, left, Transpose::yes, other.dense().block(cols.begin, 0, cols.size(), left.cols), 0,
          products);
}

template <typename T>
T UnitRows<T>::half_squared_distance(Index i, const UnitRows& other, Index j, T sign) const {
  if (is_sparse()) {
    return static_cast<T>(
        host::half_squared_distance(sparse().row(i), other.sparse().row(j), static_cast<double>(sign)));
  }
  return half_distance(dense().row(i), other.dense().row(j), sign, dense().cols);
}

template <typename T>
void UnitRows<T>::copy_rows(Index first, MatrixView<T> to) const {
  for (Index i = 0; i < to.rows; ++i) {
    std::fill_n(to.row(i), to.cols, T{0});
    const auto row = sparse().row(first + i);
    for (std::size_t k = 0; k < row.values.size(); ++k) to(i, row.columns[k]) = static_cast<T>(row.values[k]);
  }
}

template class UnitRows<float>;
template class UnitRows<double>;

}  // namespace widelimit::cpu
