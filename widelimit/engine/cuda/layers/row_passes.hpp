#pragma once

#include "widelimit/engine/cuda/layers/layer_math.hpp"

/// Row passes of LayerPasses. A team of threads shares the sums of a row through rank(), size(), sum() and largest(),
/// with a fixed order of summation. A team is a block on a device, and one thread in tests.
namespace widelimit::cuda {

/// Partial sums of columns over a segment of rows.
template <typename T>
struct SegmentSums {
  const T* from;
  Index rows;
  Index cols;
  Index segments;
  T* sums;  ///< segments × cols
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Index segment = i / cols;
    T total = 0;
    for (Index r = segment * rows / segments; r < (segment + 1) * rows / segments; ++r) {
      total += from[r * cols + i % cols];
    }
    sums[i] = total;
  }
};
template <typename T>
struct AddSegments {
  T factor;
  Index cols;
  Index segments;
  const T* sums;
  T* to;
  WIDELIMIT_BOTH void operator()(Index j) const {
    T total = 0;
    for (Index s = 0; s < segments; ++s) total += sums[s * cols + j];
    to[j] += factor * total;
  }
};

/// Computes Σ (a − b)² over a segment.
template <typename T>
struct SegmentDistance {
  const T* a;
  const T* b;
  Index count;
  Index segments;
  double* sums;
  template <typename Team>
  WIDELIMIT_BOTH void operator()(Index segment, const Team& team) const {
    double total = 0;
    const Index end = (segment + 1) * count / segments;
    for (Index i = segment * count / segments + team.rank(); i < end; i += team.size()) {
      const double difference = static_cast<double>(a[i]) - (b == nullptr ? 0.0 : static_cast<double>(b[i]));
      total += difference * difference;
    }
    total = team.sum(total);
    if (team.rank() == 0) sums[segment] = total;
  }
};

/// Mean and 1/σ of a row; 1/σ is 0 if σ = 0. Deviations are scaled by the largest one before squaring, to avoid
/// overflow and underflow.
struct RowMoments {
  double mean;
  double inverse;
};
template <typename T, typename Team>
WIDELIMIT_BOTH RowMoments row_moments(const T* x, Index cols, const Team& team) {
  const auto count = static_cast<double>(cols);
  double mean = 0;
  for (Index c = team.rank(); c < cols; c += team.size()) mean += static_cast<double>(x[c]) / count;
  mean = team.sum(mean);
  double largest = 0;
  for (Index c = team.rank(); c < cols; c += team.size())
    largest = fmax(largest, fabs(static_cast<double>(x[c]) - mean));
  largest = team.largest(largest);
  if (largest == 0) return {mean, 0};
  double variance = 0;
  for (Index c = team.rank(); c < cols; c += team.size()) {
    const double part = (static_cast<double>(x[c]) - mean) / largest;
    variance += part * part / count;
  }
  variance = team.sum(variance);
  return {mean, 1 / (largest * sqrt(variance))};
}

template <typename T>
struct Normalise {
  Index cols;
  const T* x;
  T* y;
  template <typename Team>
  WIDELIMIT_BOTH void operator()(Index row, const Team& team) const {
    const T* from = x + row * cols;
    const RowMoments m = row_moments(from, cols, team);
    for (Index c = team.rank(); c < cols; c += team.size()) {
      y[row * cols + c] = static_cast<T>((static_cast<double>(from[c]) - m.mean) * m.inverse);
    }
  }
};
/// With y = (x−μ)/σ: (g − mean g − y·mean(g∘y))/σ.
template <typename T>
struct NormaliseSignal {
  Index cols;
  const T* x;
  const T* signal;
  T* back;
  template <typename Team>
  WIDELIMIT_BOTH void operator()(Index row, const Team& team) const {
    const T* from = x + row * cols;
    const T* g = signal + row * cols;
    const auto count = static_cast<double>(cols);
    const RowMoments m = row_moments(from, cols, team);
    double mean_g = 0;
    double mean_gy = 0;
    for (Index c = team.rank(); c < cols; c += team.size()) {
      const double y = (static_cast<double>(from[c]) - m.mean) * m.inverse;
      mean_g += static_cast<double>(g[c]) / count;
      mean_gy += static_cast<double>(g[c]) * y / count;
    }
    mean_g = team.sum(mean_g);
    mean_gy = team.sum(mean_gy);
    for (Index c = team.rank(); c < cols; c += team.size()) {
      const double y = (static_cast<double>(from[c]) - m.mean) * m.inverse;
      back[row * cols + c] = static_cast<T>((static_cast<double>(g[c]) - mean_g - y * mean_gy) * m.inverse);
    }
  }
};

template <typename T>
struct Softmax {
  Index cols;
  T* x;
  template <typename Team>
  WIDELIMIT_BOTH void operator()(Index row, const Team& team) const {
    T* const values = x + row * cols;
    double top = -INFINITY;
    for (Index c = team.rank(); c < cols; c += team.size()) top = fmax(top, static_cast<double>(values[c]));
    top = team.largest(top);
    double sum = 0;
    for (Index c = team.rank(); c < cols; c += team.size()) sum += exp(static_cast<double>(values[c]) - top);
    sum = team.sum(sum);
    for (Index c = team.rank(); c < cols; c += team.size()) {
      values[c] = static_cast<T>(exp(static_cast<double>(values[c]) - top) / sum);
    }
  }
};
template <typename T>
struct SoftmaxSignal {
  Index cols;
  const T* zeta;
  T* signal;
  template <typename Team>
  WIDELIMIT_BOTH void operator()(Index row, const Team& team) const {
    const T* weight = zeta + row * cols;
    T* const g = signal + row * cols;
    double mean = 0;
    for (Index c = team.rank(); c < cols; c += team.size()) {
      mean += static_cast<double>(weight[c]) * static_cast<double>(g[c]);
    }
    mean = team.sum(mean);
    for (Index c = team.rank(); c < cols; c += team.size()) {
      g[c] = static_cast<T>(static_cast<double>(weight[c]) * (static_cast<double>(g[c]) - mean));
    }
  }
};

/// Several positions: a team sums the P × P block of entries of one pair of samples.
template <typename T>
struct AddSquares {
  T w;
  T b;
  Index positions;
  const T* a;
  const T* d;
  Index cols;  ///< samples
  T* kernel;
  Index stride;
  template <typename Team>
  WIDELIMIT_BOTH void operator()(Index pair, const Team& team) const {
    const Index i = pair / cols;
    const Index j = pair % cols;
    double total = 0;
    for (Index k = team.rank(); k < positions * positions; k += team.size()) {
      const Index at = (i * positions + k / positions) * cols * positions + j * positions + k % positions;
      total += static_cast<double>((w * a[at] + b) * d[at]);
    }
    total = team.sum(total);
    if (team.rank() == 0) kernel[i * stride + j] += static_cast<T>(total);
  }
};

}  // namespace widelimit::cuda
