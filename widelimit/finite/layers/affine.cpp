#include "widelimit/finite/layers/affine.hpp"

#include "widelimit/engine/cpu/algebra/cut_product.hpp"

namespace widelimit {

namespace {

template <std::floating_point T>
void weigh(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z, double beta,
           int threads) {
  multiply({.m = a.rows(), .n = slot.fan_out, .k = slot.fan_in, .alpha = slot.w_scale, .beta = beta}, a.data(),
           weights.w.data(), z.data(), threads);
}

template <std::floating_point T>
void weigh_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal, Tensor<T>& a_signal,
                  double beta, int threads) {
  multiply({.m = z_signal.rows(),
            .n = slot.fan_in,
            .k = slot.fan_out,
            .transpose_b = true,
            .alpha = slot.w_scale,
            .beta = beta},
           z_signal.data(), weights.w.data(), a_signal.data(), threads);
}

}  // namespace

template <std::floating_point T>
void affine(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z, int threads) {
  z.resize(a.count(), {a.shape().height, a.shape().width, slot.fan_out});
  weigh(slot, weights, a, z, 0.0, threads);
  if (weights.b.empty()) return;
  const T scale = static_cast<T>(slot.b_scale);
  T* row = z.data();
  for (Index i = 0; i < z.rows(); ++i, row += slot.fan_out) {
    for (Index o = 0; o < slot.fan_out; ++o) row[o] += scale * weights.b[static_cast<std::size_t>(o)];
  }
}

template <std::floating_point T>
void add_product(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z, int threads) {
  weigh(slot, weights, a, z, 1.0, threads);
}

template <std::floating_point T>
void affine_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal, Tensor<T>& a_signal,
                   int threads) {
  a_signal.resize(z_signal.count(), {z_signal.shape().height, z_signal.shape().width, slot.fan_in});
  weigh_signal(slot, weights, z_signal, a_signal, 0.0, threads);
}

template <std::floating_point T>
void add_affine_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal,
                       Tensor<T>& a_signal, int threads) {
  weigh_signal(slot, weights, z_signal, a_signal, 1.0, threads);
}

template void affine(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&, int);
template void affine(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&, int);
template void add_product(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&, int);
template void add_product(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&, int);
template void affine_signal(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&, int);
template void affine_signal(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&, int);
template void add_affine_signal(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&, int);
template void add_affine_signal(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&, int);

}  // namespace widelimit
