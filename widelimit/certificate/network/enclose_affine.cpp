#include "widelimit/certificate/network/enclose_affine.hpp"

#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace widelimit {

namespace {

/// Number of weights per tile, maximum number of columns of a tile, and rows of samples per block: both factors of a
/// product stay in cache.
constexpr Index tile_weights = Index{1} << 18;
constexpr Index widest_tile = 256;
constexpr Index sample_rows = 1024;

/// Number of weights that an engine with separate memory converts to float64 at a time: 512 MiB.
constexpr Index engine_tile_weights = Index{1} << 26;

/// part = w_scale·a·w. A single column avoids packing of a, which would cost as much as the product.
void weigh_tile(const WeightSlot& slot, const double* a, Index rows, const double* w, Index columns, double* part) {
  if (columns > 1) {
    host::product<double>(slot.w_scale, Transpose::no, {a, rows, slot.fan_in, slot.fan_in}, Transpose::no,
                          {w, slot.fan_in, columns, columns}, 0, {part, rows, columns, columns});
    return;
  }
  const std::size_t size = usize(slot.fan_in);
  for (Index i = 0; i < rows; ++i) part[i] = slot.w_scale * host::dot({a + i * slot.fan_in, size}, {w, size});
}

/// z = w_scale·a·map(W) in host memory, tile by tile.
template <std::floating_point T>
void product_by_tiles(const WeightSlot& slot, WeightColumns<T> weights, WeightMap map, const Tensor<double>& a,
                      Tensor<double>& z, const Engine& engine) {
  const Index width = std::clamp<Index>(tile_weights / slot.fan_in, 1, std::min(widest_tile, slot.fan_out));
  const Index tiles = (slot.fan_out + width - 1) / width;
  const auto passes = enclosures_of(engine);
  const double* const from = a.data();
  double* const to = z.data();
  const auto one = [&](Index tile) {
    WeightColumns<T> columns = weights;
    columns.first = tile * width;
    columns.width = std::min(width, slot.fan_out - columns.first);
    std::vector<double> w(usize(slot.fan_in * columns.width));
    passes->take_columns(map, columns, w.data());
    std::vector<double> part(usize(std::min(sample_rows, a.rows()) * columns.width));
    for (Index row = 0; row < a.rows(); row += sample_rows) {
      const Index rows = std::min(sample_rows, a.rows() - row);
      weigh_tile(slot, from + row * slot.fan_in, rows, w.data(), columns.width, part.data());
      for (Index i = 0; i < rows; ++i) {
        std::copy_n(part.data() + i * columns.width, columns.width, to + (row + i) * slot.fan_out + columns.first);
      }
    }
  };
  engine.for_each(tiles, one);
}

/// The same in the memory of an engine, where the weights are stored and converted to float64.
template <std::floating_point T>
void product_on_engine(const WeightSlot& slot, WeightColumns<T> columns, WeightMap map, const Tensor<double>& a,
                       Tensor<double>& z, const Engine& engine) {
  const auto& layers = layers_of<double>(engine);
  const MatrixView<const double> from = a.read(layers);
  const MatrixView<double> to = z.write(layers);
  const auto multiply = [&](const double* w) {
    layers->product(slot.w_scale, Transpose::no, from, Transpose::no, {w, slot.fan_in, columns.width, columns.width}, 0,
                    {to.data + columns.first, to.rows, columns.width, slot.fan_out});
  };
  if constexpr (std::is_same_v<T, double>) {
    columns.width = slot.fan_out;
    if (map == WeightMap::itself && columns.minus == nullptr) return multiply(columns.w);
  }
  const auto passes = enclosures_of(engine);
  const Index width = std::clamp<Index>(engine_tile_weights / slot.fan_in, 1, slot.fan_out);
  auto tile = Values<double>::unset(usize(slot.fan_in * width));
  double* const w = tile.write(layers);
  for (columns.first = 0; columns.first < slot.fan_out; columns.first += width) {
    columns.width = std::min(width, slot.fan_out - columns.first);
    passes->take_columns(map, columns, w);
    multiply(w);
  }
}

/// z = w_scale·a·map(W).
template <std::floating_point T>
void weigh_mapped(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, WeightMap map,
                  const Tensor<double>& a, Tensor<double>& z, const Engine& engine) {
  z.resize(a.count(), {a.shape().height, a.shape().width, slot.fan_out});
  if (a.rows() == 0) return;
  const WeightColumns<T> columns = columns_where(slot, weights, minus, engine);
  if (layers_of<double>(engine) != nullptr) {
    product_on_engine(slot, columns, map, a, z, engine);
  } else {
    product_by_tiles(slot, columns, map, a, z, engine);
  }
}

/// Returns b_scale·b as one row; empty without bias.
template <std::floating_point T>
Tensor<double> scaled_bias(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus) {
  if (weights.b.empty()) return {};
  Tensor<double> bias(1, {1, 1, slot.fan_out});
  double* const to = bias.data();
  const T* const b = weights.b.data();
  const T* const less = minus == nullptr ? nullptr : minus->b.data();
  for (Index j = 0; j < slot.fan_out; ++j) {
    to[j] = slot.b_scale * (static_cast<double>(b[j]) - (less == nullptr ? 0.0 : static_cast<double>(less[j])));
  }
  return bias;
}

/// Returns the bias in the memory where the engine works, or null without bias.
const double* bias_where(const Tensor<double>& bias, const Engine& engine) {
  return bias.size() == 0 ? nullptr : read_where(bias, engine);
}

void add_bias(const Tensor<double>& bias, Tensor<double>& z, const Engine& engine) {
  if (bias.size() == 0) return;
  const Index cols = bias.size();
  if (const auto& layers = layers_of<double>(engine)) {
    layers->add_row(1, bias.read(layers).data, z.rows(), cols, z.update(layers).data);
    return;
  }
  const double* const b = bias.data();
  double* row = z.data();
  for (Index i = 0; i < z.rows(); ++i, row += cols) {
    for (Index j = 0; j < cols; ++j) row[j] += b[j];
  }
}

double product_underflow(const WeightSlot& slot) {
  return static_cast<double>(slot.fan_in + 16) * underflow * std::max(1.0, slot.w_scale);
}

}  // namespace

template <std::floating_point T>
void affine_centre(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Tensor<double>& a,
                   Tensor<double>& z, const Engine& engine) {
  weigh_mapped(slot, weights, minus, WeightMap::itself, a, z, engine);
  add_bias(scaled_bias(slot, weights, minus), z, engine);
}

template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                    const Tensor<double>& centre, const Tensor<double>* radius, Enclosure& z, const Engine& engine) {
  const double g = summation_error(slot.fan_in);
  const auto passes = enclosures_of(engine);
  Tensor<double> reach;
  reach.resize(centre.count(), centre.shape());
  passes->widen(g, {read_where(centre, engine), radius == nullptr ? nullptr : read_where(*radius, engine)},
                reach.size(), write_where(reach, engine));
  const Tensor<double> bias = scaled_bias(slot, weights, minus);
  weigh_mapped(slot, weights, minus, WeightMap::modulus, reach, z.radius, engine);
  passes->round_up(g, product_underflow(slot), bias_where(bias, engine), z.radius.rows(), slot.fan_out,
                   update_where(z.radius, engine));
  weigh_mapped(slot, weights, minus, WeightMap::itself, centre, z.centre, engine);
  add_bias(bias, z.centre, engine);
}

template <std::floating_point T>
Tensor<double> unit_radius_linf(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                const Tensor<double>& reach, const Engine& engine) {
  Tensor<double> unit;
  weigh_mapped(slot, weights, minus, WeightMap::modulus, reach, unit, engine);
  enclosures_of(engine)->round_up(summation_error(slot.fan_in), product_underflow(slot), nullptr, unit.rows(),
                                  slot.fan_out, update_where(unit, engine));
  return unit;
}

/// √(w_scale·(w_scale·Σw²)), plus the square root of the underflow bound.
template <std::floating_point T>
Tensor<double> unit_radius_l2(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                              const Tensor<double>& reach, const Engine& engine) {
  const double g = summation_error(slot.fan_in);
  const double least = std::sqrt(product_underflow(slot));
  Tensor<double> unit;
  weigh_mapped(slot, weights, minus, WeightMap::square, reach, unit, engine);
  for (double& value : unit.values()) value = std::sqrt(slot.w_scale * value) * (1 + 2 * g) + least;
  return unit;
}

template void enclose_affine(const WeightSlot&, const Weights<float>&, const Weights<float>*, const Tensor<double>&,
                             const Tensor<double>*, Enclosure&, const Engine&);
template void enclose_affine(const WeightSlot&, const Weights<double>&, const Weights<double>*, const Tensor<double>&,
                             const Tensor<double>*, Enclosure&, const Engine&);
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

/// Calls visit(weights, minus or null) for one slot in its precision.
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

Tensor<double> gather_patches(const Stage& stage, const Tensor<double>& input, const Engine& engine) {
  Tensor<double> patches;
  if (stage.windows) {
    Tensor<double> image;
    image.assign(input, stage.in);
    stage.windows->gather(image, patches, engine);
  } else {
    patches.assign(input, stage.in);
  }
  return patches;
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
  const Tensor<double> reach = gather_patches(stage_, ones, engine);
  const WeightSlot& slot = architecture.slots[usize(stage_.slot)];
  visit_slot(parameters, minus, usize(stage_.slot), [&](const auto& weights, const auto* subtracted) {
    unit_ = norm == Norm::linf ? unit_radius_linf(slot, weights, subtracted, reach, engine)
                               : unit_radius_l2(slot, weights, subtracted, reach, engine);
  });
}

void FirstLayer::set_points(const Tensor<double>& points, const Engine& engine) {
  const Tensor<double> patches = gather_patches(stage_, points, engine);
  visit_slot(parameters_, minus_, usize(stage_.slot), [&](const auto& weights, const auto* subtracted) {
    affine_centre(architecture_.slots[usize(stage_.slot)], weights, subtracted, patches, centres_, engine);
  });
}

/// |z − ẑ| ≤ δ·unit + 2g(‖x‖·unit + |ẑ|): Hölder's inequality bounds the rounding of the product by the column norms;
/// |ẑ| covers the addition of the bias.
Enclosure FirstLayer::enclose(const Tensor<double>& points, std::span<const Ball> balls, const Engine& engine) const {
  const double g = summation_error(architecture_.slots[usize(stage_.slot)].fan_in);
  std::vector<Index> rows;
  std::vector<double> reach;
  for (const Ball& ball : balls) {
    rows.push_back(ball.point);
    reach.push_back(ball.radius + 2 * g * sample_norm(points.sample(ball.point), points.shape().size(), norm_));
  }
  Enclosure values;
  values.resize(std::ssize(balls), stage_.out);
  enclosures_of(engine)->first_layer({.points = rows,
                                      .reach = reach,
                                      .centres = read_where(centres_, engine),
                                      .unit = read_where(unit_, engine),
                                      .size = stage_.out.size(),
                                      .g = g},
                                     values.write(engine));
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
