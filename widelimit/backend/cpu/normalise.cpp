#include "widelimit/backend/cpu/normalise.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit::cpu {

namespace {

template <typename In, typename T>
long double normalise_run(const In* x, Index length, T* unit) {
  double largest = 0;
#pragma omp simd reduction(max : largest)
  for (Index k = 0; k < length; ++k) largest = std::max(largest, std::abs(static_cast<double>(x[k])));
  if (largest == 0) {
    std::fill_n(unit, length, T(0));
    return 0;
  }
  const int exponent = std::clamp(std::ilogb(largest), -1000, 1000);
  const double scale = std::ldexp(1.0, -exponent);
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < length; ++k) {
    const double scaled = static_cast<double>(x[k]) * scale;
    sum += scaled * scaled;
  }
  const double norm = std::sqrt(sum);
  const double factor = scale / norm;
  for (Index k = 0; k < length; ++k) unit[k] = static_cast<T>(static_cast<double>(x[k]) * factor);
  const long double scaled_variance = static_cast<long double>(sum) / static_cast<long double>(length);
  return std::ldexp(scaled_variance, 2 * exponent);
}

}  // namespace

template <typename T>
Variances normalise_rows(const SampleView& x, Index length, MatrixView<T> unit, int threads) {
  Variances variances(static_cast<std::size_t>(unit.rows));
  std::visit(
      [&](const auto& samples) {
        const Index runs = samples.cols / length;
#pragma omp parallel for num_threads(threads) schedule(static) if (unit.rows * length > 100000)
        for (Index row = 0; row < unit.rows; ++row) {
          variances[static_cast<std::size_t>(row)] =
              normalise_run(samples.row(row / runs) + row % runs * length, length, unit.row(row));
        }
      },
      x.values);
  return variances;
}

template Variances normalise_rows(const SampleView&, Index, MatrixView<float>, int);
template Variances normalise_rows(const SampleView&, Index, MatrixView<double>, int);

}  // namespace widelimit::cpu
