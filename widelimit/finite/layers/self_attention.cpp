#include "widelimit/finite/layers/self_attention.hpp"

#include "widelimit/finite/layers/affine.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Softmax of each row, after subtraction of its maximum.
template <std::floating_point T>
void softmax_rows(MatrixView<T> logits) {
  for (Index p = 0; p < logits.rows; ++p) {
    const std::span row(logits.row(p), usize(logits.cols));
    const T top = *std::max_element(row.begin(), row.end());
    T sum = 0;
    for (T& value : row) sum += value = std::exp(value - top);
    for (T& value : row) value /= sum;
  }
}

/// Replaces the signal at ζ by the signal at the logits: ζ_pq·(g_pq − Σ_r ζ_pr g_pr). Symmetric: it also maps a change
/// of the logits to one of ζ.
template <std::floating_point T>
void softmax_signal(MatrixView<const T> zeta, MatrixView<T> signal) {
  for (Index p = 0; p < zeta.rows; ++p) {
    const T* weight = zeta.row(p);
    T* g = signal.row(p);
    T mean = 0;
    for (Index q = 0; q < zeta.cols; ++q) mean += weight[q] * g[q];
    for (Index q = 0; q < zeta.cols; ++q) g[q] = weight[q] * (g[q] - mean);
  }
}

/// Returns the first sample of a tensor in engine memory, with rows per position. Samples have a constant stride.
template <typename Number>
MatrixView<Number> first_of(MatrixView<Number> all, Index count) {
  return {all.data, count == 0 ? 0 : all.rows / count, all.cols, all.stride};
}

/// c = alpha·op(a)·op(b) + beta·c, sample by sample.
template <std::floating_point T>
void multiply_samples(LayerPasses<T>& layers, Index count, double alpha, Transpose op_a, MatrixView<const T> a,
                      Transpose op_b, MatrixView<const T> b, double beta, MatrixView<T> c) {
  const MatrixView<const T> left = first_of(a, count);
  const MatrixView<const T> right = first_of(b, count);
  const MatrixView<T> result = first_of(c, count);
  layers.products(alpha, op_a, left, op_b, right, beta, result,
                  {count, left.rows * left.stride, right.rows * right.stride, result.rows * result.stride});
}

template <std::floating_point T>
void attend_on(const typename Tensor<T>::Side& layers, double scale, AttentionValues<T>& values) {
  const Index count = values.y.count();
  const MatrixView<const T> y = values.y.read(layers);
  const MatrixView<T> zeta = values.zeta.write(layers);
  multiply_samples<T>(*layers, count, scale, Transpose::no, y, Transpose::yes, y, 0, zeta);
  layers->softmax(zeta.rows, zeta.cols, zeta.data);
  multiply_samples<T>(*layers, count, 1, Transpose::no, zeta, Transpose::no, values.v.read(layers), 0,
                      values.u.write(layers));
}

template <std::floating_point T>
void attend_signal_on(const typename Tensor<T>::Side& layers, double scale, const AttentionValues<T>& values,
                      AttentionSignals<T>& signals) {
  const Index count = values.y.count();
  const MatrixView<const T> zeta = values.zeta.read(layers);
  const MatrixView<const T> y = values.y.read(layers);
  const MatrixView<const T> u_signal = signals.u.read(layers);
  const MatrixView<T> y_signal = signals.y.write(layers);
  signals.logits.resize(count, values.zeta.shape());
  const MatrixView<T> logits = signals.logits.write(layers);
  multiply_samples<T>(*layers, count, 1, Transpose::no, u_signal, Transpose::yes, values.v.read(layers), 0, logits);
  layers->softmax_signal(zeta.rows, zeta.cols, zeta.data, logits.data);
  multiply_samples<T>(*layers, count, 1, Transpose::yes, zeta, Transpose::no, u_signal, 0, signals.v.write(layers));
  multiply_samples<T>(*layers, count, scale, Transpose::no, logits, Transpose::no, y, 0, y_signal);
  multiply_samples<T>(*layers, count, scale, Transpose::yes, logits, Transpose::no, y, 1, y_signal);
}

/// Computes the derivative of u along changes of y and v.
template <std::floating_point T>
void attend_tangent_on(const typename Tensor<T>::Side& layers, double scale, const AttentionValues<T>& values,
                       const Tensor<T>& y, const Tensor<T>& v, Tensor<T>& u) {
  const Index count = values.y.count();
  const MatrixView<const T> zeta = values.zeta.read(layers);
  const MatrixView<const T> query = values.y.read(layers);
  const MatrixView<const T> query_change = y.read(layers);
  Tensor<T> logits;
  logits.resize(count, values.zeta.shape());
  const MatrixView<T> change = logits.write(layers);
  const MatrixView<T> sum = u.write(layers);
  multiply_samples<T>(*layers, count, scale, Transpose::no, query_change, Transpose::yes, query, 0, change);
  multiply_samples<T>(*layers, count, scale, Transpose::no, query, Transpose::yes, query_change, 1, change);
  layers->softmax_signal(zeta.rows, zeta.cols, zeta.data, change.data);
  multiply_samples<T>(*layers, count, 1, Transpose::no, change, Transpose::no, values.v.read(layers), 0, sum);
  multiply_samples<T>(*layers, count, 1, Transpose::no, zeta, Transpose::no, v.read(layers), 1, sum);
}

}  // namespace

template <std::floating_point T>
void attend(const AttentionWeights<T>& weights, const Tensor<T>& x, AttentionValues<T>& values, const Engine& engine) {
  const Index positions = x.shape().positions();
  const Index h = weights.slots[1].fan_out;
  const double scale = 1.0 / static_cast<double>(weights.slots[0].fan_out);
  affine(weights.slots[0], weights.weights[0], x, values.y, engine);
  affine(weights.slots[1], weights.weights[1], x, values.v, engine);
  values.zeta.resize(x.count(), {1, positions, positions});
  values.u.resize(x.count(), {x.shape().height, x.shape().width, h});
  if (const auto& layers = layers_of<T>(engine)) return attend_on(layers, scale, values);
  for (Index n = 0; n < x.count(); ++n) {
    const MatrixView<T> zeta = values.zeta.matrix(n, 1);
    const MatrixView<const T> y = values.y.matrix(n, 1);
    engine.algebra().host_product(scale, Transpose::no, y, Transpose::yes, y, 0, zeta);
    softmax_rows(zeta);
    engine.algebra().host_product(1, Transpose::no, zeta, Transpose::no, values.v.matrix(n, 1), 0,
                                  values.u.matrix(n, 1));
  }
}

template <std::floating_point T>
void attend_signal(const AttentionWeights<T>& weights, const AttentionValues<T>& values, const Tensor<T>& z_signal,
                   AttentionSignals<T>& signals, Tensor<T>& x_signal, const Engine& engine) {
  const Index positions = z_signal.shape().positions();
  const double scale = 1.0 / static_cast<double>(weights.slots[0].fan_out);
  affine_signal(weights.slots[2], weights.weights[2], z_signal, signals.u, engine);
  signals.y.resize(values.y.count(), values.y.shape());
  signals.v.resize(values.v.count(), values.v.shape());
  if (const auto& layers = layers_of<T>(engine)) {
    attend_signal_on(layers, scale, values, signals);
    affine_signal(weights.slots[0], weights.weights[0], signals.y, x_signal, engine);
    add_affine_signal(weights.slots[1], weights.weights[1], signals.v, x_signal, engine);
    return;
  }
  signals.logits.resize(1, {1, positions, positions});
  const MatrixView<T> logits = signals.logits.matrix();
  for (Index n = 0; n < z_signal.count(); ++n) {
    const MatrixView<const T> zeta = values.zeta.matrix(n, 1);
    const MatrixView<const T> y = values.y.matrix(n, 1);
    const MatrixView<const T> u_signal = signals.u.matrix(n, 1);
    const MatrixView<T> y_signal = signals.y.matrix(n, 1);
    engine.algebra().host_product(1, Transpose::no, u_signal, Transpose::yes, values.v.matrix(n, 1), 0, logits);
    softmax_signal<T>(zeta, logits);
    engine.algebra().host_product(1, Transpose::yes, zeta, Transpose::no, u_signal, 0, signals.v.matrix(n, 1));
    // y enters the logits twice, as query and as key.
    engine.algebra().host_product(scale, Transpose::no, logits, Transpose::no, y, 0, y_signal);
    engine.algebra().host_product(scale, Transpose::yes, logits, Transpose::no, y, 1, y_signal);
  }
  affine_signal(weights.slots[0], weights.weights[0], signals.y, x_signal, engine);
  add_affine_signal(weights.slots[1], weights.weights[1], signals.v, x_signal, engine);
}

template <std::floating_point T>
void attend_tangent(const AttentionWeights<T>& weights, const AttentionWeights<T>& change, const Tensor<T>& x,
                    const Tensor<T>& x_change, const AttentionValues<T>& values, Tensor<T>& z_change,
                    const Engine& engine) {
  const Index positions = x.shape().positions();
  const double scale = 1.0 / static_cast<double>(weights.slots[0].fan_out);
  const bool trained = weights.slots[0].trained;  // the same for all three
  const auto projected = [&](std::size_t l) {
    Tensor<T> moved(x.count(), {x.shape().height, x.shape().width, weights.slots[l].fan_out});
    if (trained) affine(weights.slots[l], change.weights[l], x, moved, engine);
    add_product(weights.slots[l], weights.weights[l], x_change, moved, engine);
    return moved;
  };
  const Tensor<T> y = projected(0);
  const Tensor<T> v = projected(1);
  Tensor<T> u(values.u.count(), values.u.shape());
  const auto& layers = layers_of<T>(engine);
  if (layers) attend_tangent_on(layers, scale, values, y, v, u);
  Tensor<T> logits(layers ? 0 : 1, {1, positions, positions});
  const MatrixView<T> zeta_change = logits.matrix();
  for (Index n = 0; n < (layers ? 0 : x.count()); ++n) {
    const MatrixView<const T> zeta = values.zeta.matrix(n, 1);
    const MatrixView<const T> query = values.y.matrix(n, 1);
    const MatrixView<const T> query_change = y.matrix(n, 1);
    engine.algebra().host_product(scale, Transpose::no, query_change, Transpose::yes, query, 0, zeta_change);
    engine.algebra().host_product(scale, Transpose::no, query, Transpose::yes, query_change, 1, zeta_change);
    softmax_signal<T>(zeta, zeta_change);
    engine.algebra().host_product(1, Transpose::no, zeta_change, Transpose::no, values.v.matrix(n, 1), 0,
                                  u.matrix(n, 1));
    engine.algebra().host_product(1, Transpose::no, zeta, Transpose::no, v.matrix(n, 1), 1, u.matrix(n, 1));
  }
  affine(weights.slots[2], weights.weights[2], u, z_change, engine);
  if (trained) add_product(weights.slots[2], change.weights[2], values.u, z_change, engine);
}

template void attend(const AttentionWeights<float>&, const Tensor<float>&, AttentionValues<float>&, const Engine&);
template void attend(const AttentionWeights<double>&, const Tensor<double>&, AttentionValues<double>&, const Engine&);
template void attend_signal(const AttentionWeights<float>&, const AttentionValues<float>&, const Tensor<float>&,
                            AttentionSignals<float>&, Tensor<float>&, const Engine&);
template void attend_signal(const AttentionWeights<double>&, const AttentionValues<double>&, const Tensor<double>&,
                            AttentionSignals<double>&, Tensor<double>&, const Engine&);
template void attend_tangent(const AttentionWeights<float>&, const AttentionWeights<float>&, const Tensor<float>&,
                             const Tensor<float>&, const AttentionValues<float>&, Tensor<float>&, const Engine&);
template void attend_tangent(const AttentionWeights<double>&, const AttentionWeights<double>&, const Tensor<double>&,
                             const Tensor<double>&, const AttentionValues<double>&, Tensor<double>&, const Engine&);

}  // namespace widelimit
