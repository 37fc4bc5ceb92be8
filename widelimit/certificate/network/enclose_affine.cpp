#include "widelimit/certificate/network/enclose_affine.hpp"

#include "widelimit/engine/host/host.hpp"

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
    host::product<double>(slot.w_scale, Transpose::no, {a, rows, slot.fan_in, slot.fan_in}, Transpose::no,
                          {w, slot.fan_in, columns, columns}, 0, {part, rows, columns, columns});
    return;
  }
  const std::size_t size = usize(slot.fan_in);
  for (Index i = 0; i < rows; ++i) part[i] = slot.w_scale * host::dot({a + i * slot.fan_in, size}, {w, size});
}

/// z = w_scale·a·map(W), tile by tile; finish(j) is added to every value of column j, or whatever else it makes of it.
template <std::floating_point T, typename Map, typename Finish>
void product_by_tiles(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                      const Tensor<double>& a, Tensor<double>& z, const Engine& engine, const Map& map,
                      const Finish& finish) {
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
  engine.for_each(tiles, one);
}

/// b_scale·b.
template <std::floating_point T>
std::vector<double> scaled_bias(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus) {
  std::vector<double> bias(usize(slot.fan_out));
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
                   Tensor<double>& z, const Engine& engine) {
  const std::vector<double> bias = scaled_bias(slot, weights, minus);
  product_by_tiles(
      slot, weights, minus, a, z, engine, [](double w) { return w; },
      [&](double value, Index j) { return value + bias[usize(j)]; });
}

template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Enclosure& a,
                    Enclosure& z, const Engine& engine) {
  const double g = summation_error(slot.fan_in);
  Tensor<double> reach;
  reach.resize(a.count(), a.centre.shape());
  for (Index i = 0; i < reach.size(); ++i) reach[i] = a.radius[i] + (g * std::abs(a.centre[i]) + underflow);
  const std::vector<double> bias = scaled_bias(slot, weights, minus);
  const double least = product_underflow(slot);
  product_by_tiles(
      slot, weights, minus, reach, z.radius, engine, [](double w) { return std::abs(w); },
      [&](double value, Index j) { return (value + g * std::abs(bias[usize(j)])) * (1 + 2 * g) + least; });
  affine_centre(slot, weights, minus, a.centre, z.centre, engine);
}

template <std::floating_point T>
Tensor<double> unit_radius_linf(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                const Tensor<double>& reach, const Engine& engine) {
  const double g = summation_error(slot.fan_in);
  const double least = product_underflow(slot);
  Tensor<double> unit;
  product_by_tiles(
      slot, weights, minus, reach, unit, engine, [](double w) { return std::abs(w); },
      [&](double value, Index) { return value * (1 + 2 * g) + least; });
  return unit;
}

/// √(w_scale·(w_scale·Σw²)). The root halves what underflow may take.
template <std::floating_point T>
Tensor<double> unit_radius_l2(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                              const Tensor<double>& reach, const Engine& engine) {
  const double g = summation_error(slot.fan_in);
  const double least = std::sqrt(product_underflow(slot));
  Tensor<double> unit;
  product_by_tiles(
      slot, weights, minus, reach, unit, engine, [](double w) { return w * w; },
      [&](double value, Index) { return std::sqrt(slot.w_scale * value) * (1 + 2 * g) + least; });
  return unit;
}

template void enclose_affine(const WeightSlot&, const Weights<float>&, const Weights<float>*, const Enclosure&,
                             Enclosure&, const Engine&);
template void enclose_affine(const WeightSlot&, const Weights<double>&, const Weights<double>*, const Enclosure&,
                             Enclosure&, const Engine&);
template void affine_centre(const WeightSlot&, const Weights<float>&, const Weights<float>*, const Tensor<double>&,
                            Tensor<double>&, const Engine&);
template void affine_centre(const WeightSlot&, const Weights<double>&, const Weights<double>*, const Tensor<double>&,
                            Tensor<double>&, const Engine&);
template Tensor<double> unit_radius_linf(const WeightSlot&, const Weights<float>&, const Weights<float>*,
                                         const Tensor<double>&, const Engine&);
template Tensor<double> unit_radius_linf(const WeightSlot&, const Weights<double>&, const Weights<double>*,
                                         const Tensor<double>&, const Engine&);
template Tensor<double> unit_radius_l2(const WeightSlot&, const Weights<float>&, const Weights<float>*,
                                       const Tensor<double>&, const Engine&);
template Tensor<double> unit_radius_l2(const WeightSlot&, const Weights<double>&, const Weights<double>*,
                                       const Tensor<double>&, const Engine&);

namespace {

double sample_norm(const double* x, Index size, Norm norm) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) sum = norm == Norm::linf ? std::max(sum, std::abs(x[i])) : sum + x[i] * x[i];
  return norm == Norm::linf ? sum : std::sqrt(sum) * (1 + 2 * summation_error(size)) + 0x1p-490;
}

/// visit(weights, minus or null) of one slot, in their precision.
template <typename Visit>
void visit_slot(const AnyParameters& parameters, const AnyParameters* minus, std::size_t slot, const Visit& visit) {
  std::visit(
      [&]<std::floating_point T>(const Parameters<T>& p) {
        visit(p.slots[slot], minus == nullptr ? nullptr : &std::get<Parameters<T>>(*minus).slots[slot]);
      },
      parameters);
}

}  // namespace

std::optional<std::size_t> exact_first_layer(const std::vector<Stage>& stages, Norm norm) {
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const auto& layer = stages[k].layer.value;
    if (std::holds_alternative<Flatten>(layer) || std::holds_alternative<Dropout>(layer)) continue;
    if (std::holds_alternative<Dense>(layer)) return k;
    const auto* conv = std::get_if<Conv>(&layer);
    if (conv != nullptr && (norm == Norm::linf || conv->padding != Padding::circular)) return k;
    return std::nullopt;
  }
  return std::nullopt;
}

Tensor<double> seen_by(const Stage& stage, const Tensor<double>& input, const Engine& engine) {
  Tensor<double> seen;
  if (stage.windows) {
    Tensor<double> image;
    image.assign(input, stage.in);
    stage.windows->gather(image, seen, engine);
  } else {
    seen.assign(input, stage.in);
  }
  return seen;
}

FirstLayer::FirstLayer(const Architecture& architecture, std::size_t stage, const AnyParameters& parameters,
                       const AnyParameters* minus, Norm norm, const Engine& engine)
    : architecture_(architecture),
      stage_(architecture.stages[stage]),
      parameters_(parameters),
      minus_(minus),
      norm_(norm) {
  Tensor<double> ones(1, architecture.input);
  std::fill(ones.values().begin(), ones.values().end(), 1.0);
  const Tensor<double> reach = seen_by(stage_, ones, engine);
  const WeightSlot& slot = architecture.slots[usize(stage_.slot)];
  visit_slot(parameters, minus, usize(stage_.slot), [&](const auto& weights, const auto* subtracted) {
    unit_ = norm == Norm::linf ? unit_radius_linf(slot, weights, subtracted, reach, engine)
                               : unit_radius_l2(slot, weights, subtracted, reach, engine);
  });
}

void FirstLayer::set_points(const Tensor<double>& points, const Engine& engine) {
  const Tensor<double> seen = seen_by(stage_, points, engine);
  visit_slot(parameters_, minus_, usize(stage_.slot), [&](const auto& weights, const auto* subtracted) {
    affine_centre(architecture_.slots[usize(stage_.slot)], weights, subtracted, seen, centres_, engine);
  });
}

/// |z − ẑ| ≤ δ·unit + 2g(‖x‖·unit + |ẑ|): the columns' share of rounding by Hölder's inequality, the bias by what it
/// and the product add up to.
Enclosure FirstLayer::enclose(const Tensor<double>& points, std::span<const Ball> balls) const {
  const double g = summation_error(architecture_.slots[usize(stage_.slot)].fan_in);
  const Index size = stage_.out.size();
  Enclosure values;
  values.resize(std::ssize(balls), stage_.out);
  for (Index n = 0; n < values.count(); ++n) {
    const Ball& ball = balls[usize(n)];
    const double reach = ball.radius + 2 * g * sample_norm(points.sample(ball.point), points.shape().size(), norm_);
    const double* z = centres_.sample(ball.point);
    std::copy_n(z, size, values.centre.sample(n));
    double* radius = values.radius.sample(n);
    for (Index i = 0; i < size; ++i) radius[i] = (reach * unit_[i] + 2 * g * std::abs(z[i])) * (1 + 2 * g) + underflow;
  }
  return values;
}

Enclosure enclose_coordinates(const Tensor<double>& points, std::span<const Ball> balls, const BallShape& shape) {
  const Index size = points.shape().size();
  const bool cut = shape.box && shape.norm == Norm::linf;
  Enclosure values;
  values.resize(std::ssize(balls), points.shape());
  for (Index n = 0; n < values.count(); ++n) {
    const Ball& ball = balls[usize(n)];
    const double* x = points.sample(ball.point);
    for (Index i = 0; i < size; ++i) {
      Interval ends = interval_around(x[i], shape.reach(ball.radius, i));
      if (cut) ends = {std::max(ends.low, shape.box->low(i)), std::min(ends.high, shape.box->high(i))};
      set_interval(ends, values.centre.sample(n)[i], values.radius.sample(n)[i]);
    }
  }
  return values;
}

}  // namespace widelimit
