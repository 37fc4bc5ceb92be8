#include "widelimit/finite/self_attention.hpp"

#include "widelimit/finite/affine.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Softmax of each row, its largest entry taken off first.
void softmax_rows(double* logits, Index rows, Index cols) {
  for (Index p = 0; p < rows; ++p, logits += cols) {
    const double top = *std::max_element(logits, logits + cols);
    double sum = 0.0;
    for (Index q = 0; q < cols; ++q) sum += logits[q] = std::exp(logits[q] - top);
    for (Index q = 0; q < cols; ++q) logits[q] /= sum;
  }
}

/// Signal at the logits, in place of the signal at ζ: ζ_pq·(g_pq − Σ_r ζ_pr g_pr).
void softmax_signal(const double* zeta, double* signal, Index rows, Index cols) {
  for (Index p = 0; p < rows; ++p, zeta += cols, signal += cols) {
    double mean = 0.0;
    for (Index q = 0; q < cols; ++q) mean += zeta[q] * signal[q];
    for (Index q = 0; q < cols; ++q) signal[q] = zeta[q] * (signal[q] - mean);
  }
}

}  // namespace

AttentionValues attend(const AttentionWeights& weights, const Tensor& x) {
  const Index positions = x.shape().positions();
  const Index d = weights.slots[0].fan_out;
  const Index h = weights.slots[1].fan_out;
  AttentionValues values{affine(weights.slots[0], weights.weights[0], x),
                         affine(weights.slots[1], weights.weights[1], x), Tensor(x.count(), {positions, positions, 1}),
                         Tensor(x.count(), {x.shape().height, x.shape().width, h})};
  for (Index n = 0; n < x.count(); ++n) {
    double* zeta = values.zeta.sample(n);
    multiply({.m = positions, .n = positions, .k = d, .transpose_b = true, .alpha = 1.0 / static_cast<double>(d)},
             values.y.sample(n), values.y.sample(n), zeta);
    softmax_rows(zeta, positions, positions);
    multiply({.m = positions, .n = h, .k = positions}, zeta, values.v.sample(n), values.u.sample(n));
  }
  return values;
}

AttentionSignals attend_signal(const AttentionWeights& weights, const AttentionValues& values, const Tensor& z_signal) {
  const Index positions = z_signal.shape().positions();
  const Index d = weights.slots[0].fan_out;
  const Index h = weights.slots[1].fan_out;
  const Tensor u_signal = affine_signal(weights.slots[2], weights.weights[2], z_signal);
  AttentionSignals signals{Tensor(values.y.count(), values.y.shape()), Tensor(values.v.count(), values.v.shape()), {}};
  Tensor logits(1, {positions, positions, 1});
  for (Index n = 0; n < z_signal.count(); ++n) {
    const double* zeta = values.zeta.sample(n);
    multiply({.m = positions, .n = positions, .k = h, .transpose_b = true}, u_signal.sample(n), values.v.sample(n),
             logits.data());
    softmax_signal(zeta, logits.data(), positions, positions);
    multiply({.m = positions, .n = h, .k = positions, .transpose_a = true}, zeta, u_signal.sample(n),
             signals.v.sample(n));
    const double scale = 1.0 / static_cast<double>(d);  // y enters the logits twice, as query and as key
    multiply({.m = positions, .n = d, .k = positions, .alpha = scale}, logits.data(), values.y.sample(n),
             signals.y.sample(n));
    multiply({.m = positions, .n = d, .k = positions, .transpose_a = true, .alpha = scale, .beta = 1.0}, logits.data(),
             values.y.sample(n), signals.y.sample(n));
  }
  signals.x = affine_signal(weights.slots[0], weights.weights[0], signals.y);
  signals.x += affine_signal(weights.slots[1], weights.weights[1], signals.v);
  return signals;
}

}  // namespace widelimit
