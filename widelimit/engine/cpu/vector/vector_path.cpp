#include "widelimit/engine/cpu/path.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"
#include "widelimit/engine/cpu/vector/stream.hpp"
#include "widelimit/engine/cpu/vector/vector_samples.hpp"
#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

namespace widelimit::cpu {

namespace {

template <typename T>
struct VectorLoaded final : CpuLoaded {
  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<float>> outputs) const override;
  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<double>> outputs) const override;
  bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<float>> outputs,
                     std::span<const MatrixView<float>> mirrored) const override;
  bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<double>> outputs,
                     std::span<const MatrixView<double>> mirrored) const override;

  VectorSamples<T> samples;

  [[nodiscard]] bool any_wide(Range range) const {
    const std::vector<bool>& wide = samples.wide;
    return !wide.empty() &&
           std::find(wide.begin() + range.begin, wide.begin() + range.end, true) != wide.begin() + range.end;
  }
};

/// Scratch buffer for one `Use`, one per thread; not cleared.
template <typename T, typename Use>
MatrixView<T> scratch_matrix(Index rows, Index cols) {
  thread_local Matrix<T> memory;
  if (memory.rows() * memory.cols() < rows * cols) memory = Matrix<T>(rows, cols, Content::unset);
  return {memory.data(), rows, cols, cols};
}

template <typename T>
void refine(const VectorLoaded<T>& a, Index i, const VectorLoaded<T>& b, Index first, const Strip<T>& strip) {
  for (Index k = 0; k < strip.size; ++k) {
    if (!(strip.t[k] < near_one<T>)) continue;
    const T sign = strip.rho[k] < 0 ? T(-1) : T(1);
    strip.t[k] = a.samples.unit.half_squared_distance(i, b.samples.unit, first + k, sign);
    strip.rho[k] = sign * (1 - strip.t[k]);
    for (Index m = strip.trained_begin; m < strip.trained_end; ++m)
      strip.theta[m * strip.theta_stride + k] = strip.rho[k];
  }
}

/// Returns step k if it is a layer without bias: it keeps ρ and adds it to the tangents, which is fused with the
/// preceding step.
const Step* bias_free_at(const Recipe& recipe, std::size_t k) {
  const bool fits = k < recipe.steps.size() && recipe.steps[k].op == Op::affine && recipe.steps[k].b2 == 0;
  return fits ? &recipe.steps[k] : nullptr;
}

/// out = values·r·r' in double, if r exceeds the range of float.
template <typename T, typename Out>
bool write_wide(const T* values, Index size, double r, const double* r_col, Out* out) {
  bool finite = true;
  for (Index k = 0; k < size; ++k) {
    out[k] = static_cast<Out>(static_cast<double>(values[k]) * r * r_col[k]);
    finite &= std::isfinite(out[k]);
  }
  return finite;
}

/// Runs the strips of one row through all steps: a stack with one strip per open fork.
template <typename T>
class StripStack {
 public:
  /// For strips of at most `longest` elements.
  StripStack(const Recipe& recipe, Index longest) : channels_(recipe.channels) {
    const Index deepest = deepest_stack(recipe);
    memory_ = Matrix<T>(deepest * (2 + channels_), padded(longest));
    strips_.resize(static_cast<std::size_t>(deepest));
  }

  /// Starts with `size` correlations at `rho` (used in place) and no forks. `follower`, if not null, is a layer without
  /// bias that is fused with the preceding step.
  void restart(T* rho, Index size, const Step* follower) {
    const Index stride = memory_.cols();
    for (std::size_t level = 0; level < strips_.size(); ++level) {
      T* base = memory_.data() + static_cast<Index>(level) * (2 + channels_) * stride;
      strips_[level] = {size, level == 0 ? rho : base, base + stride, base + 2 * stride, stride, channels_};
    }
    top_ = 0;
    train_with(follower);
  }

  [[nodiscard]] const Strip<T>& top() const { return strips_[top_]; }

  void run(const Step& step, const FeatureSides<T>& features, const Step* follower) {
    train_with(follower);
    switch (step.op) {
      case Op::fork:
        copy(strips_[top_], strips_[top_ + 1]), ++top_;
        break;
      case Op::swap:
        std::swap(strips_[top_], strips_[top_ - 1]);
        break;
      case Op::join:
        --top_;
        apply(step, features, strips_[top_ + 1], strips_[top_]);
        break;
      default:
        apply(step, features, Strip<T>{}, strips_[top_]);
        break;
    }
  }

 private:
  void train_with(const Step* follower) {
    strips_[top_].trained_begin = follower != nullptr ? follower->channel_begin : 0;
    strips_[top_].trained_end = follower != nullptr ? follower->channel_end : 0;
  }

  static void copy(const Strip<T>& from, const Strip<T>& to) {
    std::copy_n(from.rho, from.size, to.rho);
    std::copy_n(from.t, from.size, to.t);
    for (Index m = 0; m < from.channels; ++m) {
      std::copy_n(from.theta + m * from.theta_stride, from.size, to.theta + m * to.theta_stride);
    }
  }

  Index channels_;
  Matrix<T> memory_;
  std::vector<Strip<T>> strips_;
  std::size_t top_ = 0;
};

/// The pairs of one tile: correlations by one matrix product, then the outputs row by row. A diagonal tile only has
/// pairs on and above the diagonal.
template <typename T>
class VectorTile {
 public:
  VectorTile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols)
      : recipe_(recipe),
        a_(dynamic_cast<const VectorLoaded<T>&>(x1)),
        b_(dynamic_cast<const VectorLoaded<T>&>(x2)),
        wide_(sizeof(T) == sizeof(float) && (a_.any_wide(rows) || b_.any_wide(cols))),
        rows_(rows),
        cols_(cols),
        rho_(scratch_matrix<T, struct Correlations>(rows.size(), padded(cols.size()))),
        stack_(recipe, cols.size()) {
    for (Index i = 0; i < rho_.rows; ++i) std::fill(rho_.row(i) + cols.size(), rho_.row(i) + rho_.cols, T(0));
    a_.samples.unit.multiply(rows, b_.samples.unit, cols, on_diagonal(), rho_.block(0, 0, rows.size(), cols.size()));
  }

  [[nodiscard]] bool on_diagonal() const { return &a_ == &b_ && rows_.begin == cols_.begin; }

  /// Writes rows `part` of the tile, each once, because this overwrites their correlations. Outputs begin with row
  /// part.begin and, on the diagonal, with column part.begin.
  template <typename Out>
  void write(Range part, std::span<const MatrixView<Out>> outputs) {
    first_ = on_diagonal() ? part.begin : cols_.begin;
    const Index column = first_ - cols_.begin;
    if (on_diagonal()) mirror_upper(rho_.block(part.begin - rows_.begin, column, part.size(), part.size()));
    for (Index i = part.begin; i < part.end; ++i) {
      const Step* follower = bias_free_at(recipe_, 0);
      stack_.restart(rho_.row(i - rows_.begin) + column, cols_.end - first_, follower);
      if (begin_strip(stack_.top(), near_one<T>)) refine(a_, i, b_, first_, stack_.top());
      for (std::size_t k = follower != nullptr ? 1 : 0; k < recipe_.steps.size(); ++k) {
        const Step& step = recipe_.steps[k];
        if (step.op == Op::emit) {
          emit(k, i, i - part.begin, outputs);
          continue;
        }
        follower = step.op == Op::dual ? bias_free_at(recipe_, k + 1) : nullptr;
        stack_.run(step, features(k, i), follower);
        if (follower != nullptr) ++k;
      }
    }
  }

 private:
  [[nodiscard]] FeatureSides<T> features(std::size_t k, Index i) const {
    return {&a_.samples.features[k], i, false, &b_.samples.features[k], first_};
  }

  template <typename Out>
  void emit(std::size_t k, Index i, Index row, std::span<const MatrixView<Out>> outputs) const {
    const Step& step = recipe_.steps[k];
    const Strip<T>& strip = stack_.top();
    const auto write_slot = [&](Index slot, const T* values) {
      Out* out = outputs[static_cast<std::size_t>(slot)].row(row);
      const bool finite = wide_ ? write_wide(values, strip.size, a_.samples.features[k].f64(0, i),
                                             b_.samples.features[k].f64.data() + first_, out)
                                : write_out(values, strip.size, features(k, i)[0], out);
      if (finite) return;
      Index j = 0;
      while (std::isfinite(out[j])) ++j;
      report_overflow(slot, i, first_ + j, precision_of<Out>);
    };
    if (step.nngp_slot >= 0) write_slot(step.nngp_slot, strip.rho);
    for (Index m = 0; m < step.ntk_count; ++m) write_slot(step.ntk_slot + m, strip.theta + m * strip.theta_stride);
  }

  const Recipe& recipe_;
  const VectorLoaded<T>& a_;
  const VectorLoaded<T>& b_;
  bool wide_;  ///< depends on this tile only: results must not depend on other loaded samples
  Range rows_;
  Range cols_;
  Index first_ = 0;  ///< first column of the strips of the current rows
  MatrixView<T> rho_;
  StripStack<T> stack_;
};

template <typename T>
std::unique_ptr<Loaded> load_vectors(const Recipe& recipe, const SampleView& x, Precision precision, int threads) {
  auto loaded = std::make_unique<VectorLoaded<T>>();
  loaded->samples = load_vector_samples<T>(recipe, x, precision, threads);
  loaded->diagonal_values = std::move(loaded->samples.diagonal);
  loaded->error = loaded->samples.error;
  return loaded;
}

template <typename T, typename Out>
void vector_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                 std::span<const MatrixView<Out>> outputs) {
  VectorTile<T> tile(recipe, x1, rows, x2, cols);
  tile.write(rows, outputs);
}

/// The tile and its transpose: computed in bands of rows that fit in the second-level cache, then streamed to both
/// destinations.
template <typename T, typename Out>
void mirrored_vector_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                          std::span<const MatrixView<Out>> outputs, std::span<const MatrixView<Out>> mirrored) {
  constexpr Index cache = Index{1} << 19;
  constexpr Index line = strip_padding;  // strips of a diagonal tile begin at whole vectors
  const Index row_size = padded(cols.size());
  const auto count = static_cast<Index>(outputs.size());
  const Index height = std::max(line, cache / (count * row_size * Index{sizeof(Out)}) / line * line);
  const MatrixView<Out> memory = scratch_matrix<Out, struct Bands>(count * height, row_size);

  VectorTile<T> tile(recipe, x, rows, x, cols);
  std::vector<MatrixView<Out>> band(outputs.size());
  for (Index begin = rows.begin; begin < rows.end; begin += height) {
    const Range part{begin, std::min(rows.end, begin + height)};
    const Index first = tile.on_diagonal() ? begin - rows.begin : 0;
    const Index width = cols.size() - first;
    for (Index s = 0; s < count; ++s) {
      band[static_cast<std::size_t>(s)] = memory.block(s * height, 0, part.size(), width);
    }
    tile.write(part, std::span<const MatrixView<Out>>(band));
    for (std::size_t s = 0; s < band.size(); ++s) {
      if (tile.on_diagonal()) mirror_upper(band[s].block(0, 0, part.size(), part.size()));
      stream(band[s], outputs[s].block(begin - rows.begin, first, part.size(), width));
      stream_transposed(band[s], mirrored[s].block(first, begin - rows.begin, width, part.size()));
      interruption_point();  // page faults on many outputs are slow: a tile of a sweep may touch gigabytes
    }
  }
}

/// Strips in float are not accurate enough for outputs in double.
template <typename T, typename Out>
constexpr bool holds_digits = sizeof(T) >= sizeof(Out);

template <typename T>
void VectorLoaded<T>::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                           std::span<const MatrixView<float>> outputs) const {
  vector_tile<T>(recipe, *this, rows, other, cols, outputs);
}

template <typename T>
void VectorLoaded<T>::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                           std::span<const MatrixView<double>> outputs) const {
  if constexpr (holds_digits<T, double>) {
    vector_tile<T>(recipe, *this, rows, other, cols, outputs);
  } else {
    fail(Code::usage, "samples loaded for float32 have no kernel in float64");
  }
}

template <typename T>
bool VectorLoaded<T>::mirrored_tile(const Recipe& recipe, Range rows, Range cols,
                                    std::span<const MatrixView<float>> outputs,
                                    std::span<const MatrixView<float>> mirrored) const {
  mirrored_vector_tile<T>(recipe, *this, rows, cols, outputs, mirrored);
  return true;
}

template <typename T>
bool VectorLoaded<T>::mirrored_tile(const Recipe& recipe, Range rows, Range cols,
                                    std::span<const MatrixView<double>> outputs,
                                    std::span<const MatrixView<double>> mirrored) const {
  if constexpr (holds_digits<T, double>) mirrored_vector_tile<T>(recipe, *this, rows, cols, outputs, mirrored);
  return holds_digits<T, double>;
}

template <typename T>
class VectorPath final : public Path {
 public:
  VectorPath(const Recipe& recipe, Precision precision) : recipe_(recipe), precision_(precision) {}

  [[nodiscard]] std::string route() const override {
    return std::is_same_v<T, float> ? "strips of pairs, float" : "strips of pairs, double";
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                             const std::function<void(Index)>& /*after*/) const override {
    return load_vectors<T>(recipe_, x, precision_, threads);
  }
  [[nodiscard]] std::size_t loaded_bytes(const SampleView& x) const override {
    return vector_sample_bytes<T>(recipe_, x);
  }
  /// Tiles are large, because the matrix product packs both sides of each tile.
  [[nodiscard]] Index tile_edge() const override { return 1024; }

 private:
  const Recipe& recipe_;
  Precision precision_;
};

}  // namespace

std::unique_ptr<Path> vector_path(const Recipe& recipe, Precision precision) {
  if (precision == Precision::f32 && runs_in_float(recipe)) {
    return std::make_unique<VectorPath<float>>(recipe, precision);
  }
  return std::make_unique<VectorPath<double>>(recipe, precision);
}

}  // namespace widelimit::cpu
