#include "widelimit/engine/cpu/normalise.hpp"

#include "widelimit/base/parallel.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace widelimit::cpu
