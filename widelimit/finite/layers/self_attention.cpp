#include "widelimit/finite/layers/self_attention.hpp"

#include "widelimit/engine/cpu/algebra/cut_product.hpp"
#include "widelimit/finite/layers/affine.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Softmax of each row, its largest entry taken off first.
template <std::floating_point T>
void softmax_rows(T* logits, Index rows, Index cols) {
  for (Index p = 0; p < rows; ++p, logits += cols) {
    const T top = *std::max_element(logits, logits + cols);
    T sum = 0;
    for (Index q = 0; q < cols; ++q) sum += logits[q] = std::exp(logits[q] - top);
    for (Index q = 0; q < cols; ++q) logits[q] /= sum;
  }
}

/// Signal at the logits, in place of the signal at ζ: ζ_pq·(g_pq − Σ_r ζ_pr g_pr). Symmetric: a change of the logits
/// becomes one of ζ the same way.
template <std::floating_point T>
void softmax_signal(const T* zeta, T* signal, Index rows, Index cols) {
  for (Index p = 0; p < rows; ++p, zeta += cols, signal += cols) {
    T mean = 0;
    for (Index q = 0; q < cols; ++q) mean += zeta[q] * signal[q];
    for (Index q = 0; q < cols; ++q) signal[q] = zeta[q] * (signal[q] - mean);
  }
}

}  // namespace

template <std::floating_point T>
void attend(const AttentionWeights<T>& weights, const Tensor<T>& x, AttentionValues<T>& values, int threads) {
  const Index positions = x.shape().positions();
  const Index d = weights.slots[0].fan_out;
  const Index h = weights.slots[1].fan_out;
  affine(weights.slots[0], weights.weights[0], x, values.y, threads);
  affine(weights.slots[1], weights.weights[1], x, values.v, threads);
  values.zeta.resize(x.count(), {positions, positions, 1});
  values.u.resize(x.count(), {x.shape().height, x.shape().width, h});
  for (Index n = 0; n < x.count(); ++n) {
    T* zeta = values.zeta.sample(n);
    multiply({.m = positions, .n = positions, .k = d, .transpose_b = true, .alpha = 1.0 / static_cast<double>(d)},
             values.y.sample(n), values.y.sample(n), zeta, threads);
    softmax_rows(zeta, positions, positions);
    multiply({.m = positions, .n = h, .k = positions}, zeta, values.v.sample(n), values.u.sample(n), threads);
  }
}

template <std::floating_point T>
void attend_signal(const AttentionWeights<T>& weights, const AttentionValues<T>& values, const Tensor<T>& z_signal,
                   AttentionSignals<T>& signals, Tensor<T>& x_signal, int threads) {
  const Index positions = z_signal.shape().positions();
  const Index d = weights.slots[0].fan_out;
  const Index h = weights.slots[1].fan_out;
  affine_signal(weights.slots[2], weights.weights[2], z_signal, signals.u, threads);
  signals.y.resize(values.y.count(), values.y.shape());
  signals.v.resize(values.v.count(), values.v.shape());
  signals.logits.resize(1, {positions, positions, 1});
  T* logits = signals.logits.data();
  for (Index n = 0; n < z_signal.count(); ++n) {
    const T* zeta = values.zeta.sample(n);
    multiply({.m = positions, .n = positions, .k = h, .transpose_b = true}, signals.u.sample(n), values.v.sample(n),
             logits, threads);
    softmax_signal(zeta, logits, positions, positions);
    multiply({.m = positions, .n = h, .k = positions, .transpose_a = true}, zeta, signals.u.sample(n),
             signals.v.sample(n), threads);
    const double scale = 1.0 / static_cast<double>(d);  // y enters the logits twice, as query and as key
    multiply({.m = positions, .n = d, .k = positions, .alpha = scale}, logits, values.y.sample(n), signals.y.sample(n),
             threads);
    multiply({.m = positions, .n = d, .k = positions, .transpose_a = true, .alpha = scale, .beta = 1.0}, logits,
             values.y.sample(n), signals.y.sample(n), threads);
  }
  affine_signal(weights.slots[0], weights.weights[0], signals.y, x_signal, threads);
  add_affine_signal(weights.slots[1], weights.weights[1], signals.v, x_signal, threads);
}

template <std::floating_point T>
void attend_tangent(const AttentionWeights<T>& weights, const AttentionWeights<T>& change, const Tensor<T>& x,
                    const Tensor<T>& x_change, const AttentionValues<T>& values, Tensor<T>& z_change, int threads) {
  const Index positions = x.shape().positions();
  const Index d = weights.slots[0].fan_out;
  const Index h = weights.slots[1].fan_out;
  Tensor<T> y;
  Tensor<T> v;
  affine(weights.slots[0], change.weights[0], x, y, threads);
  add_product(weights.slots[0], weights.weights[0], x_change, y, threads);
  affine(weights.slots[1], change.weights[1], x, v, threads);
  add_product(weights.slots[1], weights.weights[1], x_change, v, threads);
  Tensor<T> zeta(1, {positions, positions, 1});
  Tensor<T> u(values.u.count(), values.u.shape());
  const double scale = 1.0 / static_cast<double>(d);
  for (Index n = 0; n < x.count(); ++n) {
    const Product query{.m = positions, .n = positions, .k = d, .transpose_b = true, .alpha = scale};
    Product key = query;
    key.beta = 1.0;
    multiply(query, y.sample(n), values.y.sample(n), zeta.data(), threads);
    multiply(key, values.y.sample(n), y.sample(n), zeta.data(), threads);
    softmax_signal(values.zeta.sample(n), zeta.data(), positions, positions);
    multiply({.m = positions, .n = h, .k = positions}, zeta.data(), values.v.sample(n), u.sample(n), threads);
    multiply({.m = positions, .n = h, .k = positions, .beta = 1.0}, values.zeta.sample(n), v.sample(n), u.sample(n),
             threads);
  }
  affine(weights.slots[2], weights.weights[2], u, z_change, threads);
  add_product(weights.slots[2], change.weights[2], values.u, z_change, threads);
}

template void attend(const AttentionWeights<float>&, const Tensor<float>&, AttentionValues<float>&, int);
template void attend(const AttentionWeights<double>&, const Tensor<double>&, AttentionValues<double>&, int);
template void attend_signal(const AttentionWeights<float>&, const AttentionValues<float>&, const Tensor<float>&,
                            AttentionSignals<float>&, Tensor<float>&, int);
template void attend_signal(const AttentionWeights<double>&, const AttentionValues<double>&, const Tensor<double>&,
                            AttentionSignals<double>&, Tensor<double>&, int);
template void attend_tangent(const AttentionWeights<float>&, const AttentionWeights<float>&, const Tensor<float>&,
                             const Tensor<float>&, const AttentionValues<float>&, Tensor<float>&, int);
template void attend_tangent(const AttentionWeights<double>&, const AttentionWeights<double>&, const Tensor<double>&,
                             const Tensor<double>&, const AttentionValues<double>&, Tensor<double>&, int);

}  // namespace widelimit
