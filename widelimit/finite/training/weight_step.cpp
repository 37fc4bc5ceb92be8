#include "widelimit/finite/training/weight_step.hpp"

#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

/// A tile of W with its anchor stays in the second-level cache between the passes over it.
constexpr Index tile_rows = 256;
constexpr Index tile_cols = 1024;
/// Fewer multiply-adds cost less than the start of a team.
constexpr double team_work = 1 << 24;
/// A matrix of few tiles and a product of many rows is cut along the rows instead.
constexpr Index few_tiles = 8;
constexpr Index many_rows = 8192;
constexpr Index row_pieces = 16;

/// to ← (what is stepped before the gradient is added): the velocity, or the weights themselves.
template <std::floating_point T>
void pull_row(const SlotStep<T>& step, const T* w, const T* anchor, T* velocity, T* to, Index count) {
  const auto pulled = static_cast<T>(step.rate * step.pull);
  if (velocity != nullptr) {
    const auto kept = static_cast<T>(step.momentum);
    for (Index j = 0; j < count; ++j) {
      velocity[j] = kept * velocity[j] - pulled * (w[j] - (anchor == nullptr ? T{0} : anchor[j]));
    }
  } else if (anchor != nullptr) {
    for (Index j = 0; j < count; ++j) to[j] += pulled * (anchor[j] - to[j]);
  } else {
    const T left = T{1} - pulled;
    for (Index j = 0; j < count; ++j) to[j] *= left;
  }
}

/// A block of W.
struct WeightTile {
  Index row;
  Index col;
  Index rows;
  Index cols;
};

/// add(alpha, a, d, to): to += alpha·aᵀd.
template <std::floating_point T, typename Add>
void step_tile(const WeightSlot& slot, const GradientFactors<T>& g, const SlotStep<T>& step, const WeightTile& tile,
               const Add& add, Weights<T>& weights) {
  const auto [row, col, rows, cols] = tile;
  const auto at = [&, row = row, col = col](Index r) { return (row + r) * slot.fan_out + col; };
  const T* anchor = step.anchor == nullptr ? nullptr : step.anchor->w.data();
  T* velocity = step.velocity == nullptr ? nullptr : step.velocity->w.data();
  T* w = weights.w.data();
  for (Index r = 0; r < rows && (step.pull != 0 || velocity != nullptr); ++r) {
    pull_row<T>(step, w + at(r), anchor == nullptr ? nullptr : anchor + at(r),
                velocity == nullptr ? nullptr : velocity + at(r), w + at(r), cols);
  }
  const MatrixView<T> to = (velocity == nullptr ? weights : *step.velocity).matrix(slot).block(row, col, rows, cols);
  add(-step.rate * slot.w_scale, g.a->matrix().block(0, row, g.a->rows(), rows),
      g.d->matrix().block(0, col, g.d->rows(), cols), to);
  for (Index r = 0; velocity != nullptr && r < rows; ++r) {
    for (Index j = at(r); j < at(r) + cols; ++j) w[j] += velocity[j];
  }
}

/// The sum over rows as a fixed number of sums, so that a team can make them.
template <std::floating_point T>
void step_in_pieces(const WeightSlot& slot, const GradientFactors<T>& g, const SlotStep<T>& step, const Engine& engine,
                    Weights<T>& weights) {
  const Index size = slot.fan_in * slot.fan_out;
  const Index length = (g.a->rows() + row_pieces - 1) / row_pieces;
  std::vector<T> own;
  std::vector<T>& sums = step.scratch == nullptr ? own : *step.scratch;
  sums.resize(static_cast<std::size_t>(row_pieces * size));
  engine.for_each(row_pieces, [&](Index k) {
    const Index rows = std::clamp<Index>(g.a->rows() - k * length, 0, length);
    host::product<T>(1, Transpose::yes, g.a->matrix().block(k * length, 0, rows, slot.fan_in), Transpose::no,
                     g.d->matrix().block(k * length, 0, rows, slot.fan_out), 0,
                     {sums.data() + k * size, slot.fan_in, slot.fan_out, slot.fan_out});
  });
  T* velocity = step.velocity == nullptr ? nullptr : step.velocity->w.data();
  T* to = velocity == nullptr ? weights.w.data() : velocity;
  if (step.pull != 0 || velocity != nullptr) {
    pull_row<T>(step, weights.w.data(), step.anchor == nullptr ? nullptr : step.anchor->w.data(), velocity,
                weights.w.data(), size);
  }
  const auto factor = static_cast<T>(-step.rate * slot.w_scale);
  for (Index i = 0; i < size; ++i) {
    T sum = 0;
    for (Index k = 0; k < row_pieces; ++k) sum += sums[static_cast<std::size_t>(k * size + i)];
    to[i] += factor * sum;
    if (velocity != nullptr) weights.w[static_cast<std::size_t>(i)] += velocity[i];
  }
}

template <std::floating_point T>
void step_bias(const WeightSlot& slot, const GradientFactors<T>& g, const SlotStep<T>& step, Weights<T>& weights) {
  T* b = weights.b.data();
  T* velocity = step.velocity == nullptr ? nullptr : step.velocity->b.data();
  if (step.pull != 0 || velocity != nullptr) {
    pull_row<T>(step, b, step.anchor == nullptr ? nullptr : step.anchor->b.data(), velocity, b, slot.fan_out);
  }
  const auto factor = static_cast<T>(-step.rate * slot.b_scale);
  T* to = velocity == nullptr ? b : velocity;
  const T* d = g.d->data();
  for (Index row = 0; row < g.d->rows(); ++row, d += slot.fan_out) {
    for (Index o = 0; o < slot.fan_out; ++o) to[o] += factor * d[o];
  }
  for (Index o = 0; velocity != nullptr && o < slot.fan_out; ++o) b[o] += velocity[o];
}

/// W of an engine that works in host memory: its threads take tiles of W.
template <std::floating_point T>
void step_on_host(const WeightSlot& slot, const GradientFactors<T>& g, const SlotStep<T>& step, const Engine& engine,
                  Weights<T>& weights) {
  const Index across = (slot.fan_out + tile_cols - 1) / tile_cols;
  const Index tiles = (slot.fan_in + tile_rows - 1) / tile_rows * across;
  if (tiles < few_tiles && g.a->rows() >= many_rows) return step_in_pieces(slot, g, step, engine, weights);
  const auto add = [](double alpha, MatrixView<const T> a, MatrixView<const T> d, MatrixView<T> to) {
    host::product<T>(static_cast<T>(alpha), Transpose::yes, a, Transpose::no, d, 1, to);
  };
  const auto one = [&](Index k) {
    const Index row = k / across * tile_rows;
    const Index col = k % across * tile_cols;
    const WeightTile tile{row, col, std::min(tile_rows, slot.fan_in - row), std::min(tile_cols, slot.fan_out - col)};
    step_tile(slot, g, step, tile, add, weights);
  };
  const double work = static_cast<double>(slot.fan_in * slot.fan_out) * static_cast<double>(g.a->rows());
  if (work > team_work) {
    engine.for_each(tiles, one);
  } else {
    for (Index k = 0; k < tiles; ++k) one(k);
  }
}

}  // namespace

template <std::floating_point T>
void step_slot(const WeightSlot& slot, const GradientFactors<T>& gradient, const SlotStep<T>& step,
               const Engine& engine, Weights<T>& weights) {
  if (engine.algebra().over(std::as_const(weights).matrix(slot))) {
    step_on_host(slot, gradient, step, engine, weights);
  } else {
    const auto add = [&](double alpha, MatrixView<const T> a, MatrixView<const T> d, MatrixView<T> to) {
      engine.algebra().host_product(alpha, Transpose::yes, a, Transpose::no, d, 1, to);
    };
    step_tile(slot, gradient, step, {0, 0, slot.fan_in, slot.fan_out}, add, weights);
  }
  if (slot.biased()) step_bias(slot, gradient, step, weights);
}

template <std::floating_point T>
void add_gradient(const Architecture& architecture, const Gradient<T>& gradient, double factor, Parameters<T>& weights,
                  const Engine& engine) {
  const SlotStep<T> step{.rate = -factor};
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    if (!architecture.slots[l].trained) continue;
    step_slot(architecture.slots[l], gradient.slots[l], step, engine, weights.slots[l]);
  }
}

template void step_slot(const WeightSlot&, const GradientFactors<float>&, const SlotStep<float>&, const Engine&,
                        Weights<float>&);
template void step_slot(const WeightSlot&, const GradientFactors<double>&, const SlotStep<double>&, const Engine&,
                        Weights<double>&);
template void add_gradient(const Architecture&, const Gradient<float>&, double, Parameters<float>&, const Engine&);
template void add_gradient(const Architecture&, const Gradient<double>&, double, Parameters<double>&, const Engine&);

}  // namespace widelimit
