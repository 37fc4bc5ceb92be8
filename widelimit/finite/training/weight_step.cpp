#include "widelimit/finite/training/weight_step.hpp"

#include "widelimit/engine/host/host.hpp"
#include "widelimit/finite/layers/convolution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit {

namespace {

/// A tile of W with its anchor stays in the L2 cache between the passes over it.
constexpr Index tile_rows = 256;
constexpr Index tile_cols = 1024;
/// Products with fewer multiply-adds run on one thread.
constexpr double team_work = 1 << 24;
/// A matrix with few tiles and a product with many rows is split along the rows instead.
constexpr Index few_tiles = 8;
constexpr Index many_rows = 8192;
constexpr Index row_pieces = 16;

/// Consecutive weights with their anchor, moments and gradient.
template <std::floating_point T>
struct Numbers {
  T* w = nullptr;
  const T* anchor = nullptr;
  T* velocity = nullptr;
  T* squares = nullptr;
  T* gradient = nullptr;  ///< gradient buffer, for steps that are not linear in the gradient

  [[nodiscard]] Numbers from(Index first) const {
    const auto moved = [first](auto* values) { return values == nullptr ? nullptr : values + first; };
    return {moved(w), moved(anchor), moved(velocity), moved(squares), moved(gradient)};
  }
  /// Returns where a multiple of the gradient of the losses is accumulated between begin() and end().
  [[nodiscard]] T* sum() const { return gradient != nullptr ? gradient : (velocity != nullptr ? velocity : w); }
};

/// The elementwise part of a step.
template <std::floating_point T>
class Move {
 public:
  explicit Move(const SlotStep<T>& step)
      : rate_(step.rate),
        adaptive_(step.optimiser.adaptive()),
        nesterov_(step.optimiser.kind == OptimiserKind::nesterov),
        decoupled_(step.optimiser.kind == OptimiserKind::adamw),
        l2_(step.l2),
        decay_(decoupled_ ? 0.0 : step.optimiser.weight_decay),
        kept_(static_cast<T>(step.optimiser.momentum)),
        left_(static_cast<T>(decoupled_ ? 1 - step.rate * step.optimiser.weight_decay : 1.0)),
        beta1_(static_cast<T>(step.optimiser.beta1)),
        beta2_(static_cast<T>(step.optimiser.beta2)),
        fresh1_(static_cast<T>(1 - step.optimiser.beta1)),
        fresh2_(static_cast<T>(1 - step.optimiser.beta2)),
        epsilon_(static_cast<T>(step.optimiser.epsilon)) {
    if (!adaptive_) return;
    const auto t = static_cast<double>(step.steps + 1);
    size_ = static_cast<T>(step.rate / (1 - std::pow(step.optimiser.beta1, t)));
    root_ = static_cast<T>(1 / std::sqrt(1 - std::pow(step.optimiser.beta2, t)));
  }

  [[nodiscard]] bool adaptive() const { return adaptive_; }
  [[nodiscard]] bool penalised() const { return l2_ != 0 || decay_ != 0; }
  /// Returns the constants of begin() and end() for an engine with separate memory.
  [[nodiscard]] WeightMove<T> constants() const {
    return {.adaptive = adaptive_,
            .nesterov = nesterov_,
            .scaled_l2 = static_cast<T>(factor() * l2_),
            .decayed = static_cast<T>(factor() * decay_),
            .kept = kept_,
            .left = left_,
            .beta1 = beta1_,
            .beta2 = beta2_,
            .fresh1 = fresh1_,
            .fresh2 = fresh2_,
            .epsilon = epsilon_,
            .size = size_,
            .root = root_};
  }
  /// Factor of the gradient of the losses in the sum.
  [[nodiscard]] double factor() const { return adaptive_ ? 1.0 : -rate_; }

  /// Initialises the sum with the penalties and the decayed velocity.
  void begin(const Numbers<T>& n, Index count) const {
    const auto scaled_l2 = static_cast<T>(factor() * l2_);
    const auto decayed = static_cast<T>(factor() * decay_);
    const auto penalty = [&](Index j) {
      return scaled_l2 * (n.w[j] - (n.anchor == nullptr ? T{0} : n.anchor[j])) + decayed * n.w[j];
    };
    if (adaptive_) {
      for (Index j = 0; j < count; ++j) n.gradient[j] = penalty(j);
    } else if (n.velocity != nullptr) {
      for (Index j = 0; j < count; ++j) {
        const T coasting = kept_ * n.velocity[j];
        n.velocity[j] = coasting + penalty(j);
        if (nesterov_) n.w[j] -= coasting;
      }
    } else if (penalised()) {
      for (Index j = 0; j < count; ++j) n.w[j] += penalty(j);
    }
  }

  /// Updates the weights by the sum. Nesterov's μv' − ηg equals (1 + μ)v' − μv with v' the new velocity and v the old
  /// one, whose part begin() subtracts.
  void end(const Numbers<T>& n, Index count) const {
    if (adaptive_) {
      for (Index j = 0; j < count; ++j) {
        const T g = n.gradient[j];
        n.velocity[j] = beta1_ * n.velocity[j] + fresh1_ * g;
        n.squares[j] = beta2_ * n.squares[j] + fresh2_ * g * g;
        n.w[j] = left_ * n.w[j] - size_ * n.velocity[j] / (std::sqrt(n.squares[j]) * root_ + epsilon_);
      }
    } else if (n.velocity != nullptr) {
      const T share = nesterov_ ? T{1} + kept_ : T{1};
      for (Index j = 0; j < count; ++j) n.w[j] += share * n.velocity[j];
    }
  }

 private:
  double rate_;
  bool adaptive_;
  bool nesterov_;
  bool decoupled_;
  double l2_;
  double decay_;  ///< coupled weight decay, part of the gradient
  T kept_;
  T left_;  ///< factor of the weights by decoupled weight decay
  T beta1_;
  T beta2_;
  T fresh1_;
  T fresh2_;
  T epsilon_;
  T size_ = 0;
  T root_ = 0;
};

/// Returns matrix or bias of a slot: `part` of its weights, anchor and moments.
template <std::floating_point T>
Numbers<T> numbers(const SlotStep<T>& step, Weights<T>& weights, Values<T> Weights<T>::*part, T* gradient) {
  return {.w = (weights.*part).data(),
          .anchor = step.anchor == nullptr ? nullptr : (step.anchor->*part).data(),
          .velocity = step.velocity == nullptr ? nullptr : (step.velocity->*part).data(),
          .squares = step.squares == nullptr ? nullptr : (step.squares->*part).data(),
          .gradient = gradient};
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
void step_tile(const WeightSlot& slot, const GradientFactors<T>& g, const Move<T>& move, const Numbers<T>& all,
               const WeightTile& tile, const Add& add) {
  const auto [row, col, rows, cols] = tile;
  const auto at = [&, row = row, col = col](Index r) { return all.from((row + r) * slot.fan_out + col); };
  for (Index r = 0; r < rows; ++r) move.begin(at(r), cols);
  add(move.factor() * slot.w_scale, g.a->matrix().block(0, row, g.a->rows(), rows),
      g.d->matrix().block(0, col, g.d->rows(), cols), MatrixView<T>{at(0).sum(), rows, cols, slot.fan_out});
  for (Index r = 0; r < rows; ++r) move.end(at(r), cols);
}

/// Splits the sum over rows into a fixed number of partial sums, computed in parallel.
template <std::floating_point T>
void step_in_pieces(const WeightSlot& slot, const GradientFactors<T>& g, const Move<T>& move, const Numbers<T>& all,
                    T* sums, const Engine& engine) {
  const Index size = slot.fan_in * slot.fan_out;
  const Index length = (g.a->rows() + row_pieces - 1) / row_pieces;
  engine.for_each(row_pieces, [&](Index k) {
    const Index rows = std::clamp<Index>(g.a->rows() - k * length, 0, length);
    host::product<T>(1, Transpose::yes, g.a->matrix().block(k * length, 0, rows, slot.fan_in), Transpose::no,
                     g.d->matrix().block(k * length, 0, rows, slot.fan_out), 0,
                     {sums + k * size, slot.fan_in, slot.fan_out, slot.fan_out});
  });
  move.begin(all, size);
  const auto factor = static_cast<T>(move.factor() * slot.w_scale);
  for (Index i = 0; i < size; ++i) {
    T sum = 0;
    for (Index k = 0; k < row_pieces; ++k) sum += sums[k * size + i];
    all.sum()[i] += factor * sum;
  }
  move.end(all, size);
}

/// Updates W of a convolution without gathered windows.
template <std::floating_point T>
void step_filter(const WeightSlot& slot, const GradientFactors<T>& g, const Move<T>& move, const Numbers<T>& all,
                 T* sums, const Engine& engine) {
  const Index size = slot.fan_in * slot.fan_out;
  std::fill_n(sums, size, T{0});
  add_filter_gradient(*g.windows, *g.a, *g.d, MatrixView<T>{sums, slot.fan_in, slot.fan_out, slot.fan_out}, engine);
  move.begin(all, size);
  const auto factor = static_cast<T>(move.factor() * slot.w_scale);
  for (Index i = 0; i < size; ++i) all.sum()[i] += factor * sums[i];
  move.end(all, size);
}

template <std::floating_point T>
void step_bias(const WeightSlot& slot, const GradientFactors<T>& g, const Move<T>& move, const Numbers<T>& all) {
  move.begin(all, slot.fan_out);
  const auto factor = static_cast<T>(move.factor() * slot.b_scale);
  T* to = all.sum();
  const T* d = g.d->data();
  for (Index row = 0; row < g.d->rows(); ++row, d += slot.fan_out) {
    for (Index o = 0; o < slot.fan_out; ++o) to[o] += factor * d[o];
  }
  move.end(all, slot.fan_out);
}

/// Returns whether the sum over rows is split rather than W.
template <std::floating_point T>
bool in_pieces(const WeightSlot& slot, const GradientFactors<T>& g) {
  const Index tiles = (slot.fan_in + tile_rows - 1) / tile_rows * ((slot.fan_out + tile_cols - 1) / tile_cols);
  return tiles < few_tiles && g.a->rows() >= many_rows;
}

/// Updates W on an engine that works in host memory: its threads process tiles of W.
template <std::floating_point T>
void step_in_tiles(const WeightSlot& slot, const GradientFactors<T>& g, const Move<T>& move, const Numbers<T>& all,
                   const Engine& engine) {
  const auto add = [](double alpha, MatrixView<const T> a, MatrixView<const T> d, MatrixView<T> to) {
    host::product<T>(static_cast<T>(alpha), Transpose::yes, a, Transpose::no, d, 1, to);
  };
  const Index across = (slot.fan_out + tile_cols - 1) / tile_cols;
  const Index tiles = (slot.fan_in + tile_rows - 1) / tile_rows * across;
  const auto one = [&](Index k) {
    const Index row = k / across * tile_rows;
    const Index col = k % across * tile_cols;
    const WeightTile tile{row, col, std::min(tile_rows, slot.fan_in - row), std::min(tile_cols, slot.fan_out - col)};
    step_tile(slot, g, move, all, tile, add);
  };
  const double work = static_cast<double>(slot.fan_in * slot.fan_out) * static_cast<double>(g.a->rows());
  if (work > team_work) {
    engine.for_each(tiles, one);
  } else {
    for (Index k = 0; k < tiles; ++k) one(k);
  }
}

/// Updates matrix or bias of a slot in engine memory. add(sum) adds move.factor() times the gradient of the losses.
template <std::floating_point T, typename Add>
void step_part_on(const typename Values<T>::Side& layers, const SlotStep<T>& step, const Move<T>& move,
                  Values<T>& scratch, Weights<T>& weights, Values<T> Weights<T>::*part, const Add& add) {
  Values<T>& w = weights.*part;
  const auto updated = [&](Weights<T>* of) { return of == nullptr ? nullptr : (of->*part).update(layers); };
  if (move.adaptive()) scratch.resize(w.size());
  const MovedWeights<T> moved{
      .count = std::ssize(w),
      .w = w.update(layers),
      .anchor = step.anchor == nullptr ? nullptr : (step.anchor->*part).read(layers),
      .velocity = updated(step.velocity),
      .squares = updated(step.squares),
      .gradient = move.adaptive() ? scratch.write(layers) : nullptr,
  };
  const WeightMove<T> constants = move.constants();
  const bool plain = !move.adaptive() && moved.velocity == nullptr;
  if (!plain || move.penalised()) layers->begin_step(constants, moved);
  add(moved.sum());
  if (!plain) layers->end_step(constants, moved);
}

template <std::floating_point T>
void step_on(const typename Values<T>::Side& layers, const WeightSlot& slot, const GradientFactors<T>& g,
             const SlotStep<T>& step, const Move<T>& move, const Engine& engine, Weights<T>& weights) {
  Tensor<T> patches;
  if (g.windows != nullptr) g.windows->gather(*g.a, patches, engine);
  const Tensor<T>& a = g.windows != nullptr ? patches : *g.a;
  Values<T> own;
  Values<T>& scratch = step.scratch == nullptr ? own : *step.scratch;
  step_part_on(layers, step, move, scratch, weights, &Weights<T>::w, [&](T* sum) {
    layers->product(move.factor() * slot.w_scale, Transpose::yes, a.read(layers), Transpose::no, g.d->read(layers), 1,
                    {sum, slot.fan_in, slot.fan_out, slot.fan_out});
  });
  if (!slot.biased()) return;
  step_part_on(layers, step, move, scratch, weights, &Weights<T>::b, [&](T* sum) {
    layers->add_column_sums(static_cast<T>(move.factor() * slot.b_scale), g.d->read(layers).data, g.d->rows(),
                            slot.fan_out, sum);
  });
}

}  // namespace

template <std::floating_point T>
void step_slot(const WeightSlot& slot, const GradientFactors<T>& gradient, const SlotStep<T>& step,
               const Engine& engine, Weights<T>& weights) {
  const Move<T> move(step);
  if (const auto& layers = layers_of<T>(engine)) return step_on(layers, slot, gradient, step, move, engine, weights);
  const bool on_host = works_on_host(engine);
  const Index stored = move.adaptive() ? slot.fan_in * slot.fan_out : 0;
  const Index sums = gradient.windows != nullptr ? 1 : (on_host && in_pieces(slot, gradient) ? row_pieces : 0);
  const Index pieces = sums * slot.fan_in * slot.fan_out;
  Values<T> own;
  Values<T>& scratch = step.scratch == nullptr ? own : *step.scratch;
  if (std::ssize(scratch) < stored + pieces) scratch.resize(static_cast<std::size_t>(stored + pieces));
  const Numbers<T> matrix = numbers(step, weights, &Weights<T>::w, move.adaptive() ? scratch.data() : nullptr);
  if (gradient.windows != nullptr) {
    step_filter(slot, gradient, move, matrix, scratch.data() + stored, engine);
  } else if (pieces > 0) {
    step_in_pieces(slot, gradient, move, matrix, scratch.data() + stored, engine);
  } else if (on_host) {
    step_in_tiles(slot, gradient, move, matrix, engine);
  } else {
    const auto add = [&](double alpha, MatrixView<const T> a, MatrixView<const T> d, MatrixView<T> to) {
      engine.algebra().host_product(alpha, Transpose::yes, a, Transpose::no, d, 1, to);
    };
    step_tile(slot, gradient, move, matrix, {0, 0, slot.fan_in, slot.fan_out}, add);
  }
  if (!slot.biased()) return;
  std::vector<T> bias_gradient(static_cast<std::size_t>(move.adaptive() ? slot.fan_out : 0));
  step_bias(slot, gradient, move,
            numbers(step, weights, &Weights<T>::b, move.adaptive() ? bias_gradient.data() : nullptr));
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
