#include "widelimit/certificate/network/enclose_affine.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/cpu/algebra/cut_product.hpp"

#include <algorithm>
#include <vector>

namespace widelimit {

namespace {

/// Weights of a tile, as many columns as make this many numbers, and rows of samples taken at a time: both factors of
/// a product stay in the caches.
constexpr Index tile_weights = Index{1} << 18;
constexpr Index widest_tile = 256;
constexpr Index sample_rows = 1024;

/// Columns [first, first + width) of the weights in float64, each through `map`.
template <std::floating_point T, typename Map>
void take_columns(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, Index first, Index width,
                  const Map& map, std::vector<double>& tile) {
  tile.resize(static_cast<std::size_t>(slot.fan_in * width));
  double* to = tile.data();
  for (Index i = 0; i < slot.fan_in; ++i) {
    const T* from = weights.w.data() + i * slot.fan_out + first;
    if (minus == nullptr) {
      for (Index j = 0; j < width; ++j) *to++ = map(static_cast<double>(from[j]));
      continue;
    }
    const T* less = minus->w.data() + i * slot.fan_out + first;
    for (Index j = 0; j < width; ++j) *to++ = map(static_cast<double>(from[j]) - static_cast<double>(less[j]));
  }
}

/// part = w_scale·a·w. A single column needs no packing of a, which would cost as much as the product.
void weigh_tile(const WeightSlot& slot, const double* a, Index rows, const double* w, Index columns, double* part) {
  if (columns > 1) {
    multiply({.m = rows, .n = columns, .k = slot.fan_in, .alpha = slot.w_scale}, a, w, part);
    return;
  }
  const std::size_t size = at(slot.fan_in);
  for (Index i = 0; i < rows; ++i) part[i] = slot.w_scale * cpu::dot({a + i * slot.fan_in, size}, {w, size});
}

/// z = w_scale·a·map(W), tile by tile; finish(j) is added to every value of column j, or whatever else it makes of it.
template <std::floating_point T, typename Map, typename Finish>
void product_by_tiles(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                      const Tensor<double>& a, Tensor<double>& z, int threads, const Map& map, const Finish& finish) {
  z.resize(a.count(), {a.shape().height, a.shape().width, slot.fan_out});
  if (a.rows() == 0) return;
  const Index width = std::clamp<Index>(tile_weights / slot.fan_in, 1, std::min(widest_tile, slot.fan_out));
  const Index tiles = (slot.fan_out + width - 1) / width;
  const auto one = [&](Index tile) {
    const Index first = tile * width;
    const Index columns = std::min(width, slot.fan_out - first);
    std::vector<double> w;
    take_columns(slot, weights, minus, first, columns, map, w);
    std::vector<double> part(static_cast<std::size_t>(std::min(sample_rows, a.rows()) * columns));
    for (Index row = 0; row < a.rows(); row += sample_rows) {
      const Index rows = std::min(sample_rows, a.rows() - row);
      weigh_tile(slot, a.data() + row * slot.fan_in, rows, w.data(), columns, part.data());
      for (Index i = 0; i < rows; ++i) {
        const double* from = part.data() + i * columns;
        double* to = z.data() + (row + i) * slot.fan_out + first;
        for (Index j = 0; j < columns; ++j) to[j] = finish(from[j], first + j);
      }
    }
  };
  parallel_for(tiles, tiles > 1 ? threads : 1, one);
}

/// b_scale·b.
template <std::floating_point T>
std::vector<double> scaled_bias(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus) {
  std::vector<double> bias(at(slot.fan_out));
  for (std::size_t j = 0; j < weights.b.size(); ++j) {
    const double less = minus == nullptr ? 0.0 : static_cast<double>(minus->b[j]);
    bias[j] = slot.b_scale * (static_cast<double>(weights.b[j]) - less);
  }
  return bias;
}

double product_underflow(const WeightSlot& slot) {
  return static_cast<double>(slot.fan_in + 16) * underflow * std::max(1.0, slot.w_scale);
}

}  // namespace

template <std::floating_point T>
void affine_centre(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Tensor<double>& a,
                   Tensor<double>& z, int threads) {
  const std::vector<double> bias = scaled_bias(slot, weights, minus);
  product_by_tiles(
      slot, weights, minus, a, z, threads, [](double w) { return w; },
      [&](double value, Index j) { return value + bias[at(j)]; });
}

template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Enclosure& a,
                    Enclosure& z, int threads) {
  const double g = summation_error(slot.fan_in);
  Tensor<double> reach;
  reach.resize(a.count(), a.centre.shape());
  for (Index i = 0; i < reach.size(); ++i) reach[i] = a.radius[i] + (g * std::abs(a.centre[i]) + underflow);
  const std::vector<double> bias = scaled_bias(slot, weights, minus);
  const double least = product_underflow(slot);
  product_by_tiles(
      slot, weights, minus, reach, z.radius, threads, [](double w) { return std::abs(w); },
      [&](double value, Index j) { return (value + g * std::abs(bias[at(j)])) * (1 + 2 * g) + least; });
  affine_centre(slot, weights, minus, a.centre, z.centre, threads);
}

template <std::floating_point T>
Tensor<double> unit_radius_linf(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                const Tensor<double>& reach, int threads) {
  const double g = summation_error(slot.fan_in);
  const double least = product_underflow(slot);
  Tensor<double> unit;
  product_by_tiles(
      slot, weights, minus, reach, unit, threads, [](double w) { return std::abs(w); },
      [&](double value, Index) { return value * (1 + 2 * g) + least; });
  return unit;
}

/// √(w_scale·(w_scale·Σw²)). The root halves what underflow may take.
template <std::floating_point T>
Tensor<double> unit_radius_l2(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                              const Tensor<double>& reach, int threads) {
  const double g = summation_error(slot.fan_in);
  const double least = std::sqrt(product_underflow(slot));
  Tensor<double> unit;
  product_by_tiles(
      slot, weights, minus, reach, unit, threads, [](double w) { return w * w; },
      [&](double value, Index) { return std::sqrt(slot.w_scale * value) * (1 + 2 * g) + least; });
  return unit;
}

template void enclose_affine(const WeightSlot&, const Weights<float>&, const Weights<float>*, const Enclosure&,
                             Enclosure&, int);
template void enclose_affine(const WeightSlot&, const Weights<double>&, const Weights<double>*, const Enclosure&,
                             Enclosure&, int);
template void affine_centre(const WeightSlot&, const Weights<float>&, const Weights<float>*, const Tensor<double>&,
                            Tensor<double>&, int);
template void affine_centre(const WeightSlot&, const Weights<double>&, const Weights<double>*, const Tensor<double>&,
                            Tensor<double>&, int);
template Tensor<double> unit_radius_linf(const WeightSlot&, const Weights<float>&, const Weights<float>*,
                                         const Tensor<double>&, int);
template Tensor<double> unit_radius_linf(const WeightSlot&, const Weights<double>&, const Weights<double>*,
                                         const Tensor<double>&, int);
template Tensor<double> unit_radius_l2(const WeightSlot&, const Weights<float>&, const Weights<float>*,
                                       const Tensor<double>&, int);
template Tensor<double> unit_radius_l2(const WeightSlot&, const Weights<double>&, const Weights<double>*,
                                       const Tensor<double>&, int);

}  // namespace widelimit
