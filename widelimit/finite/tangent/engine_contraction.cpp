#include "widelimit/finite/tangent/engine_contraction.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Rows per product, sufficient to saturate a device; also the strip height for a symmetric matrix.
constexpr Index strip_rows = 512;
/// Number of values of one product, and of the contracted gradients of one panel of samples.
constexpr Index tile_numbers = Index{1} << 27;
constexpr Index panel_numbers = Index{1} << 28;

/// One slot and two sets of samples.
template <std::floating_point T>
struct SlotPair {
  const WeightSlot& slot;
  const GradientFactors<T>& g1;
  const GradientFactors<T>& g2;
  Index positions;
  bool symmetric;
};

/// Returns the rows of samples [first, first + count).
template <typename T>
MatrixView<T> samples(MatrixView<T> all, Index positions, Index first, Index count) {
  return all.block(first * positions, 0, count * positions, all.cols);
}

/// kernel += (w²·A Aᵀ + b²)∘(D Dᵀ), summed over the positions of both samples.
template <std::floating_point T>
void add_pairs(const std::shared_ptr<LayerPasses<T>>& layers, const SlotPair<T>& pair, MatrixView<T> kernel,
               Progress* progress) {
  const Index positions = pair.positions;
  const Index tall = std::clamp<Index>(strip_rows / positions, 1, kernel.rows);
  const Index wide = std::clamp<Index>(tile_numbers / (tall * positions * positions), 1, kernel.cols);
  const auto w_square = static_cast<T>(pair.slot.w_scale * pair.slot.w_scale);
  const auto b_square = static_cast<T>(pair.slot.b_scale * pair.slot.b_scale);
  Values<T> a;
  Values<T> d;
  for (Index i = 0; i < kernel.rows; i += tall) {
    const Index rows = std::min(tall, kernel.rows - i);
    for (Index j = pair.symmetric ? i : 0; j < kernel.cols; j += wide) {
      stop_if_requested(progress);
      const Index cols = std::min(wide, kernel.cols - j);
      const auto inner = [&](const Tensor<T>& left, const Tensor<T>& right, Values<T>& products) -> const T* {
        products.resize(static_cast<std::size_t>(rows * cols * positions * positions));
        T* const to = products.write(layers);
        layers->product(1, Transpose::no, samples(left.read(layers), positions, i, rows), Transpose::yes,
                        samples(right.read(layers), positions, j, cols), 0,
                        {to, rows * positions, cols * positions, cols * positions});
        return to;
      };
      const T* const a_products = inner(*pair.g1.a, *pair.g2.a, a);
      const T* const d_products = inner(*pair.g1.d, *pair.g2.d, d);
      layers->add_pairs(w_square, b_square, positions, a_products, d_products, kernel.block(i, j, rows, cols));
    }
  }
}

/// Returns rows Σ_p a_p d_pᵀ of samples [first, first + count).
template <std::floating_point T>
MatrixView<const T> contracted(const std::shared_ptr<LayerPasses<T>>& layers, const SlotPair<T>& pair,
                               const GradientFactors<T>& g, Index first, Index count, Values<T>& memory) {
  const WeightSlot& slot = pair.slot;
  const Index weights = slot.fan_in * slot.fan_out;
  memory.resize(static_cast<std::size_t>(count * weights));
  T* const rows = memory.write(layers);
  layers->products(1, Transpose::yes, samples(g.a->read(layers), pair.positions, first, 1), Transpose::no,
                   samples(g.d->read(layers), pair.positions, first, 1), 0,
                   {rows, slot.fan_in, slot.fan_out, slot.fan_out},
                   {count, pair.positions * slot.fan_in, pair.positions * slot.fan_out, weights});
  return {rows, count, weights, weights};
}

/// Returns rows Σ_p d_p of all samples.
template <std::floating_point T>
MatrixView<const T> summed(const std::shared_ptr<LayerPasses<T>>& layers, const SlotPair<T>& pair,
                           const GradientFactors<T>& g, Values<T>& memory) {
  const Index cols = pair.slot.fan_out;
  memory.resize(static_cast<std::size_t>(g.d->count() * cols));
  T* const rows = memory.write(layers);
  layers->sum_positions(T{1}, pair.positions, cols, g.d->count(), g.d->read(layers).data, rows);
  return {rows, g.d->count(), cols, cols};
}

/// Adds products of the contracted gradients, panel by panel.
template <std::floating_point T>
void add_products(const std::shared_ptr<LayerPasses<T>>& layers, const SlotPair<T>& pair, MatrixView<T> kernel,
                  Progress* progress) {
  const WeightSlot& slot = pair.slot;
  const Index panel = std::max<Index>(1, panel_numbers / (slot.fan_in * slot.fan_out));
  Values<T> left_memory;
  Values<T> right_memory;
  for (Index i = 0; i < kernel.rows; i += panel) {
    const Index rows = std::min(panel, kernel.rows - i);
    const MatrixView<const T> left = contracted(layers, pair, pair.g1, i, rows, left_memory);
    for (Index j = pair.symmetric ? i : 0; j < kernel.cols; j += panel) {
      stop_if_requested(progress);
      const Index cols = std::min(panel, kernel.cols - j);
      const bool same = pair.symmetric && i == j;
      const MatrixView<const T> right = same ? left : contracted(layers, pair, pair.g2, j, cols, right_memory);
      layers->product(slot.w_scale * slot.w_scale, Transpose::no, left, Transpose::yes, right, 1,
                      kernel.block(i, j, rows, cols));
    }
  }
  if (!slot.biased()) return;
  const MatrixView<const T> left = summed(layers, pair, pair.g1, left_memory);
  const MatrixView<const T> right = pair.symmetric ? left : summed(layers, pair, pair.g2, right_memory);
  layers->product(slot.b_scale * slot.b_scale, Transpose::no, left, Transpose::yes, right, 1, kernel);
}

}  // namespace

template <std::floating_point T>
void add_contraction(const std::shared_ptr<LayerPasses<T>>& layers, const Architecture& architecture,
                     const Gradient<T>& g1, const Gradient<T>& g2, MatrixView<T> kernel, Progress* progress) {
  if (kernel.rows == 0 || kernel.cols == 0) return;
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    const WeightSlot& slot = architecture.slots[l];
    if (!slot.trained) continue;
    const Index positions = g1.slots[l].d->shape().positions();
    const SlotPair<T> pair{slot, g1.slots[l], g2.slots[l], positions, &g1 == &g2};
    if (slot.fan_in * slot.fan_out < positions * positions * (slot.fan_in + slot.fan_out)) {
      add_products(layers, pair, kernel, progress);
    } else {
      add_pairs(layers, pair, kernel, progress);
    }
  }
}

template void add_contraction(const std::shared_ptr<LayerPasses<float>>&, const Architecture&, const Gradient<float>&,
                              const Gradient<float>&, MatrixView<float>, Progress*);
template void add_contraction(const std::shared_ptr<LayerPasses<double>>&, const Architecture&, const Gradient<double>&,
                              const Gradient<double>&, MatrixView<double>, Progress*);

}  // namespace widelimit
