#include "widelimit/finite/layers/affine.hpp"

namespace widelimit {

namespace {

template <std::floating_point T>
void weigh(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z, double beta,
           const Engine& engine) {
  if (const auto& layers = layers_of<T>(engine)) {
    layers->product(slot.w_scale, Transpose::no, a.read(layers), Transpose::no, weights.read(slot, layers), beta,
                    beta == 0 ? z.write(layers) : z.update(layers));
    return;
  }
  engine.algebra().host_product(slot.w_scale, Transpose::no, a.matrix(), Transpose::no, weights.matrix(slot), beta,
                                z.matrix());
}

template <std::floating_point T>
void weigh_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal, Tensor<T>& a_signal,
                  double beta, const Engine& engine) {
  if (const auto& layers = layers_of<T>(engine)) {
    layers->product(slot.w_scale, Transpose::no, z_signal.read(layers), Transpose::yes, weights.read(slot, layers),
                    beta, beta == 0 ? a_signal.write(layers) : a_signal.update(layers));
    return;
  }
  engine.algebra().host_product(slot.w_scale, Transpose::no, z_signal.matrix(), Transpose::yes, weights.matrix(slot),
                                beta, a_signal.matrix());
}

}  // namespace

template <std::floating_point T>
void affine(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z, const Engine& engine) {
  z.resize(a.count(), {a.shape().height, a.shape().width, slot.fan_out});
  weigh(slot, weights, a, z, 0.0, engine);
  if (weights.b.empty()) return;
  const T scale = static_cast<T>(slot.b_scale);
  if (const auto& layers = layers_of<T>(engine)) {
    layers->add_row(scale, weights.b.read(layers), z.rows(), slot.fan_out, z.update(layers).data);
    return;
  }
  const T* const b = weights.b.data();
  T* row = z.data();
  for (Index i = 0; i < z.rows(); ++i, row += slot.fan_out) {
    for (Index o = 0; o < slot.fan_out; ++o) row[o] += scale * b[o];
  }
}

template <std::floating_point T>
void add_product(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z,
                 const Engine& engine) {
  weigh(slot, weights, a, z, 1.0, engine);
}

template <std::floating_point T>
void affine_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal, Tensor<T>& a_signal,
                   const Engine& engine) {
  a_signal.resize(z_signal.count(), {z_signal.shape().height, z_signal.shape().width, slot.fan_in});
  weigh_signal(slot, weights, z_signal, a_signal, 0.0, engine);
}

template <std::floating_point T>
void add_affine_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal,
                       Tensor<T>& a_signal, const Engine& engine) {
  weigh_signal(slot, weights, z_signal, a_signal, 1.0, engine);
}

template void affine(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&, const Engine&);
template void affine(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&, const Engine&);
template void add_product(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&,
                          const Engine&);
template void add_product(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&,
                          const Engine&);
template void affine_signal(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&,
                            const Engine&);
template void affine_signal(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&,
                            const Engine&);
template void add_affine_signal(const WeightSlot&, const Weights<float>&, const Tensor<float>&, Tensor<float>&,
                                const Engine&);
template void add_affine_signal(const WeightSlot&, const Weights<double>&, const Tensor<double>&, Tensor<double>&,
                                const Engine&);

}  // namespace widelimit
