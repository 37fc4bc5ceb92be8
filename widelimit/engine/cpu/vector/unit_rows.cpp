#include "widelimit/engine/cpu/vector/unit_rows.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/host/sparse_product.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::cpu {

namespace {

/// ‖x·scale‖².
template <typename In>
double squared_norm(const In* x, Index length, double scale) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < length; ++k) {
    const double scaled = static_cast<double>(x[k]) * scale;
    sum += scaled * scaled;
  }
  return sum;
}

/// Returns the exponent of the power of two that scales the largest value to [1, 2).
template <typename In>
int exponent_of(const In* x, Index length) {
  double largest = 0;
  for (Index k = 0; k < length; ++k) largest = std::max(largest, std::abs(static_cast<double>(x[k])));
  return largest > 0 ? std::clamp(std::ilogb(largest), -1000, 1000) : 0;
}

/// Normalises `values` numbers of a vector of `length`, whose other entries are 0; `unit` may alias `x`.
template <typename In, typename T>
long double normalise_run(const In* x, Index values, Index length, T* unit) {
  int exponent = 0;
  double sum = squared_norm(x, values, 1.0);
  const bool safe = sum > 0x1p-900 && sum < 0x1p1000;  // no square overflowed, no relevant one underflowed
  if (!safe) {
    exponent = exponent_of(x, values);
    sum = squared_norm(x, values, std::ldexp(1.0, -exponent));
  }
  if (sum == 0) {
    std::fill_n(unit, values, T(0));
    return 0;
  }
  const double factor = std::ldexp(1.0, -exponent) / std::sqrt(sum);
  for (Index k = 0; k < values; ++k) unit[k] = static_cast<T>(static_cast<double>(x[k]) * factor);
  return std::ldexp(static_cast<long double>(sum) / static_cast<long double>(length), 2 * exponent);
}

/// Normalises whole rows in place and returns their variances.
Variances normalise_rows(SparseMatrix& rows, int threads) {
  Variances variances(usize(rows.rows()));
  constexpr Index at_once = 256;
  parallel_for((rows.rows() + at_once - 1) / at_once, threads, [&](Index task) {
    for (Index i = task * at_once; i < std::min(rows.rows(), (task + 1) * at_once); ++i) {
      const std::span<double> row = rows.row_values(i);
      variances[usize(i)] = normalise_run(row.data(), std::ssize(row), rows.cols(), row.data());
    }
  });
  return variances;
}

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
Variances normalise_rows(const SampleView& x, Index length, MatrixView<T> unit, int threads) {
  Variances variances(static_cast<std::size_t>(unit.rows));
  std::visit(
      [&](const auto& samples) {
        const Index runs = samples.cols / length;
        const Index at_once = std::max<Index>(1, 100'000 / std::max<Index>(length, 1));
        parallel_for((unit.rows + at_once - 1) / at_once, threads, [&](Index task) {
          for (Index row = task * at_once; row < std::min(unit.rows, (task + 1) * at_once); ++row) {
            variances[static_cast<std::size_t>(row)] =
                normalise_run(samples.row(row / runs) + row % runs * length, length, length, unit.row(row));
          }
        });
      },
      x.dense("networks that read positions"));
  return variances;
}

template Variances normalise_rows(const SampleView&, Index, MatrixView<float>, int);
template Variances normalise_rows(const SampleView&, Index, MatrixView<double>, int);

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
