#pragma once

#include "widelimit/engine/cuda/layers/layer_math.hpp"

/// Elementwise passes of LayerPasses: a device launches them over all elements, tests run them in a loop.
namespace widelimit::cuda {

template <typename T>
struct Combine {
  T a;
  const T* x;
  T b;
  const T* y;
  T* to;
  WIDELIMIT_BOTH void operator()(Index i) const { to[i] = y == nullptr ? a * x[i] : a * x[i] + b * y[i]; }
};

template <typename T>
struct TakeRows {
  const T* from;
  Index size;
  const Index* rows;
  T* to;
  WIDELIMIT_BOTH void operator()(Index i) const { to[i] = from[rows[i / size] * size + i % size]; }
};

template <typename T>
struct AddRow {
  T scale;
  const T* row;
  Index cols;
  T* to;
  WIDELIMIT_BOTH void operator()(Index i) const { to[i] += scale * row[i % cols]; }
};

template <typename T>
struct Activate {
  ScalarFunction phi;
  const T* x;
  T* y;
  WIDELIMIT_BOTH void operator()(Index i) const { y[i] = static_cast<T>(evaluate(phi, static_cast<double>(x[i]))); }
};
template <typename T>
struct ActivateSignal {
  ScalarFunction phi;
  const T* x;
  const T* signal;
  T* back;
  WIDELIMIT_BOTH void operator()(Index i) const {
    back[i] = signal[i] * static_cast<T>(derivative(phi, static_cast<double>(x[i])));
  }
};
/// ReLU separately, since Activate needs more registers and arithmetic in double.
template <typename T>
struct Rectify {
  const T* x;
  T* y;
  WIDELIMIT_BOTH void operator()(Index i) const { y[i] = x[i] > T(0) ? x[i] : T(0); }
};
template <typename T>
struct RectifySignal {
  const T* x;
  const T* signal;
  T* back;
  WIDELIMIT_BOTH void operator()(Index i) const { back[i] = x[i] >= T(0) ? signal[i] : T(0); }
};

template <typename T>
struct Drop {
  std::uint64_t seed;
  std::uint64_t stream;
  std::uint64_t first;
  double rate;
  const T* x;
  T* y;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const bool kept = uniform(seed, stream, first + static_cast<std::uint64_t>(i)) < rate;
    y[i] = kept ? x[i] * static_cast<T>(1.0 / rate) : T(0);
  }
};

template <typename T>
struct BeginStep {
  WeightMove<T> move;
  MovedWeights<T> n;
  WIDELIMIT_BOTH void operator()(Index j) const {
    const T w = n.w[j];
    const T penalty = move.scaled_l2 * (w - (n.anchor == nullptr ? T(0) : n.anchor[j])) + move.decayed * w;
    if (move.adaptive) {
      n.gradient[j] = penalty;
    } else if (n.velocity != nullptr) {
      const T coasting = move.kept * n.velocity[j];
      n.velocity[j] = coasting + penalty;
      if (move.nesterov) n.w[j] = w - coasting;
    } else {
      n.w[j] = w + penalty;
    }
  }
};
template <typename T>
struct EndStep {
  WeightMove<T> move;
  MovedWeights<T> n;
  WIDELIMIT_BOTH void operator()(Index j) const {
    if (move.adaptive) {
      const T g = n.gradient[j];
      const T m = move.beta1 * n.velocity[j] + move.fresh1 * g;
      const T s = move.beta2 * n.squares[j] + move.fresh2 * g * g;
      n.velocity[j] = m;
      n.squares[j] = s;
      n.w[j] = move.left * n.w[j] - move.size * m / (static_cast<T>(sqrt(s)) * move.root + move.epsilon);
    } else if (n.velocity != nullptr) {
      n.w[j] += (move.nesterov ? T(1) + move.kept : T(1)) * n.velocity[j];
    }
  }
};

/// One position (P = 1): each pair of samples is one entry.
template <typename T>
struct AddEntries {
  T w;
  T b;
  const T* a;
  const T* d;
  Index cols;
  T* kernel;
  Index stride;
  WIDELIMIT_BOTH void operator()(Index i) const { kernel[i / cols * stride + i % cols] += (w * a[i] + b) * d[i]; }
};
template <typename T>
struct MirrorUpper {
  Index size;
  T* kernel;
  Index stride;
  WIDELIMIT_BOTH void operator()(Index k) const {
    const Index i = k / size;
    const Index j = k % size;
    if (j < i) kernel[i * stride + j] = kernel[j * stride + i];
  }
};

}  // namespace widelimit::cuda
