#include "widelimit/engine/cpu/path.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/plane/plane_runner.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"
#include "widelimit/engine/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <utility>
#include "widelimit/engine/cpu/plane/plane_trace.hpp"

namespace widelimit::cpu {

namespace {

struct Move {
  Index to, from;
};

/// Permutes the places of every array: place → from(place).
template <typename T, typename From>
void rearrange(const GroupTrace<T>& group, const From& from, GroupTrace<T>& to) {
  const auto fill = [&](const Matrix<T>& source, Matrix<T>& result) {
    if (result.rows() != source.rows() || result.cols() != source.cols()) {
      result = Matrix<T>(source.rows(), source.cols());
    }
    const Index places = source.cols() / plane_lanes;
    for (Index f = 0; f < source.rows(); ++f) {
      const T* in = source.data() + f * source.cols();
      T* out = result.data() + f * source.cols();
      for (Index block = 0; block < places; block += plane_lanes) {  // a block fits in the first-level cache
        const Index end = std::min(places, block + plane_lanes);
        for (Index l = 0; l < plane_lanes; ++l) {
          for (Index p = block; p < end; ++p) {
            const Move move = from(p, l, places);
            out[move.to] = in[move.from];
          }
        }
      }
    }
  };
  fill(group.x, to.x);
  to.scale = group.scale;
  to.ops.resize(group.ops.size());
  for (std::size_t s = 0; s < group.ops.size(); ++s) {
    to.ops[s].resize(group.ops[s].size());
    for (std::size_t k = 0; k < group.ops[s].size(); ++k) {
      const OpTrace& op = group.ops[s][k];
      OpTrace& moved = to.ops[s][k];
      moved.gain = op.gain, moved.constant = op.constant, moved.theta = op.theta, moved.plain = op.plain;
      if constexpr (std::is_same_v<T, float>) {
        fill(op.features.f32, moved.features.f32);
      } else {
        fill(op.features.f64, moved.features.f64);
      }
      moved.features.terms = op.features.terms;
      moved.features.function = op.features.function;
    }
  }
}

/// Converts to image-major layout: place p of lane l at lP + p.
template <typename T>
void image_by_image(const GroupTrace<T>& group, GroupTrace<T>& to) {
  rearrange(
      group,
      [](Index p, Index l, Index places) {
        return Move{l * places + p, p * plane_lanes + l};
      },
      to);
}

/// Rotates the lanes: lane l holds image (l + shift) mod `count`.
template <typename T>
void rotated(const GroupTrace<T>& group, Index shift, Index count, GroupTrace<T>& to) {
  std::array<Index, static_cast<std::size_t>(plane_lanes)> source{};
  for (Index l = 0; l < plane_lanes; ++l) source[static_cast<std::size_t>(l)] = (l + shift) % count;
  rearrange(
      group,
      [&](Index p, Index l, Index) {
        return Move{p * plane_lanes + l, p * plane_lanes + source[static_cast<std::size_t>(l)]};
      },
      to);
  const auto rotate = [&](LaneNumbers& numbers) {
    const LaneNumbers before = numbers;
    for (std::size_t l = 0; l < source.size(); ++l) numbers[l] = before[static_cast<std::size_t>(source[l])];
  };
  for (auto& stage : to.ops) {
    for (OpTrace& op : stage) rotate(op.gain), rotate(op.constant), rotate(op.theta);
  }
  rotate(to.scale);
}

template void image_by_image(const GroupTrace<float>&, GroupTrace<float>&);
template void image_by_image(const GroupTrace<double>&, GroupTrace<double>&);
template void rotated(const GroupTrace<float>&, Index, Index, GroupTrace<float>&);
template void rotated(const GroupTrace<double>&, Index, Index, GroupTrace<double>&);

template <typename T>
struct PlaneLoaded final : CpuLoaded {
  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<float>> outputs) const override;
  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<double>> outputs) const override;
  void diagonal(const Recipe& recipe, int threads, MatrixView<double> outputs,
                const std::function<void(Index done)>& after) const override;

  PlaneProgram program;
  std::vector<GroupTrace<T>> groups;
  Index images = 0;
  [[nodiscard]] Index count() const override { return images; }
  /// Returns the number of images in group g without padding.
  [[nodiscard]] Index size(Index g) const { return std::min(plane_lanes, images - g * plane_lanes); }
  [[nodiscard]] const GroupTrace<T>& group(Index g) const { return groups[static_cast<std::size_t>(g)]; }

 private:
  mutable std::once_flag made_;
  mutable Matrix<double> values_;  ///< each image with itself
};

template <typename T>
const PlaneLoaded<T>& planes_of(const Loaded& x) {
  return dynamic_cast<const PlaneLoaded<T>&>(x);
}

/// Returns the groups that intersect a range of images.
Range groups_of(Range images) { return {images.begin / plane_lanes, (images.end + plane_lanes - 1) / plane_lanes}; }
Range overlap(Range images, Index group) {
  return {std::max(images.begin, group * plane_lanes), std::min(images.end, (group + 1) * plane_lanes)};
}

/// Calls put(slot, lane, value) for all outputs of 16 pairs.
template <typename T, typename Put>
void each_output(const Step& emit, const PlaneBatch<T>& batch, const PlaneRunner<T>& runner, const Put& put) {
  const auto write = [&](Index slot, const T* values) {
    for (Index l = 0; l < plane_lanes; ++l) {
      const auto row = static_cast<std::size_t>(batch.row.varies ? l : batch.row.lane);
      const double r = batch.row.trace->scale[row];
      const double r_col = batch.col->scale[static_cast<std::size_t>(l)];
      // Multiplies by the smaller factor first: r r' may overflow although the product with the value does not.
      put(slot, l, static_cast<double>(values[l]) * std::min(r, r_col) * std::max(r, r_col));
    }
  };
  if (emit.nngp_slot >= 0) write(emit.nngp_slot, runner.result(0));
  for (Index m = 0; m < emit.ntk_count; ++m) write(emit.ntk_slot + m, runner.result(1 + m));
}

/// Runs the batches of one tile and stores their outputs.
template <typename T, typename Out>
class TileWriter {
 public:
  TileWriter(const PlaneLoaded<T>& a, const PlaneLoaded<T>& b, Range rows, Range cols, Index input_channels,
             std::span<const MatrixView<Out>> outputs)
      : a_(a), b_(b), rows_(rows), cols_(cols), outputs_(outputs), runner_(a.program, input_channels) {}

  /// Runs two groups in the order that takes fewer batches.
  void group_by_group(Index g, Index h, bool mirrored) {
    const Range rows = overlap(rows_, g);
    const Range cols = overlap(cols_, h);
    if (cols.size() < rows.size()) {
      image_by_image(b_.group(h), turned_);
      images_by_group(turned_, cols, g, true, mirrored);
      return;
    }
    if (held_ != g) image_by_image(a_.group(g), images_);
    held_ = g;
    images_by_group(images_, rows, h, false, mirrored);
  }

  /// A group paired with itself: lane l holds images l and l + shift, for all shifts up to half the group.
  void group_by_itself(Index g) {
    const Index size = a_.size(g);
    for (Index shift = 0; shift <= size / 2; ++shift) {
      rotated(a_.group(g), shift, size, turned_);
      const PlaneBatch<T> batch{&a_.group(g), {&turned_, 0, true}, false};
      runner_.run(batch);
      each_output<T>(a_.program.stages.back().last, batch, runner_, [&](Index slot, Index lane, double value) {
        if (lane >= size) return;
        const Index i = g * plane_lanes + lane;
        const Index j = g * plane_lanes + (lane + shift) % size;
        put(slot, i, j, value);
        put(slot, j, i, value);
      });
    }
  }

 private:
  /// Images of one set against group g of the other. `swapped`: the images belong to the second set.
  void images_by_group(const GroupTrace<T>& images, Range range, Index g, bool swapped, bool mirrored) {
    const PlaneLoaded<T>& lanes = swapped ? a_ : b_;
    for (Index i = range.begin; i < range.end; ++i) {
      const PlaneBatch<T> batch{&lanes.group(g), {&images, i % plane_lanes, false}, false};
      runner_.run(batch);
      each_output<T>(a_.program.stages.back().last, batch, runner_, [&](Index slot, Index lane, double value) {
        const Index j = g * plane_lanes + lane;
        if (j >= lanes.images) return;
        put(slot, swapped ? j : i, swapped ? i : j, value);
        if (mirrored) put(slot, swapped ? i : j, swapped ? j : i, value);
      });
    }
  }

  void put(Index slot, Index i, Index j, double value) {
    if (i < rows_.begin || i >= rows_.end || j < cols_.begin || j >= cols_.end) return;
    const auto result = static_cast<Out>(value);
    if (!std::isfinite(result)) report_overflow(slot, i, j, precision_of<Out>);
    outputs_[static_cast<std::size_t>(slot)](i - rows_.begin, j - cols_.begin) = result;
  }

  const PlaneLoaded<T>& a_;
  const PlaneLoaded<T>& b_;
  Range rows_, cols_;
  std::span<const MatrixView<Out>> outputs_;
  PlaneRunner<T> runner_;
  GroupTrace<T> images_, turned_;  ///< row sides
  Index held_ = -1;                ///< index of the group in images_
};

template <typename T>
std::unique_ptr<Loaded> load_planes(const Recipe& recipe, const PlaneProgram& program, const SampleView& x,
                                    Precision precision, int threads, const std::function<void(Index done)>& after) {
  auto loaded = std::make_unique<PlaneLoaded<T>>();
  loaded->program = program;
  loaded->images = x.count();
  const Index groups = (x.count() + plane_lanes - 1) / plane_lanes;
  loaded->groups.resize(static_cast<std::size_t>(groups));
  std::vector<double> errors(static_cast<std::size_t>(groups), 0.0);
  parallel_for(
      groups, threads,
      [&](Index g) {
        const auto k = static_cast<std::size_t>(g);
        loaded->groups[k] = trace_group<T>(recipe, loaded->program, x, g * plane_lanes, precision, &errors[k]);
      },
      [&](Index done) { after(std::min(x.count(), done * plane_lanes)); });
  for (const double error : errors) loaded->error = std::max(loaded->error, error);
  return loaded;
}

template <typename T, typename Out>
void plane_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                std::span<const MatrixView<Out>> outputs) {
  const auto& a = planes_of<T>(x1);
  const auto& b = planes_of<T>(x2);
  if (rows.size() <= 0 || cols.size() <= 0) return;
  TileWriter<T, Out> writer(a, b, rows, cols, recipe.input.channels, outputs);
  const Range row_groups = groups_of(rows);
  const Range col_groups = groups_of(cols);
  const bool square = &a == &b && rows.begin == cols.begin && rows.end == cols.end;
  // Rotating a group costs about as much as a few planes.
  const PlaneStage& stage = a.program.stages.front();
  const bool worthwhile = stage.dy.size() * stage.dx.size() > 16;
  for (Index g = row_groups.begin; g < row_groups.end; ++g) {
    if (square && worthwhile) writer.group_by_itself(g);
    if (square && !worthwhile) writer.group_by_group(g, g, false);
    for (Index h = square ? g + 1 : col_groups.begin; h < col_groups.end; ++h) {
      writer.group_by_group(g, h, square);
    }
  }
}

/// Computed lazily and cached, since off-diagonal tiles do not need it.
template <typename T>
void PlaneLoaded<T>::diagonal(const Recipe& recipe, int threads, MatrixView<double> outputs,
                              const std::function<void(Index)>& after) const {
  std::call_once(made_, [&] {
    values_ = Matrix<double>(recipe.outputs, images);
    const auto one_group = [&](Index g) {
      PlaneRunner<T> runner(program, recipe.input.channels);
      const PlaneBatch<T> batch{&group(g), {&group(g), 0, true}, true};
      runner.run(batch);
      each_output<T>(program.stages.back().last, batch, runner, [&](Index slot, Index lane, double value) {
        const Index i = g * plane_lanes + lane;
        if (i >= images) return;
        if (!std::isfinite(value)) report_overflow(slot, i, i, Precision::f64);
        values_(slot, i) = value;
      });
    };
    parallel_for(static_cast<Index>(groups.size()), threads, one_group,
                 [&](Index done) { after(std::min(images, done * plane_lanes)); });
  });
  for (Index slot = 0; slot < recipe.outputs; ++slot) {
    std::copy_n(values_.view().row(slot), images, outputs.row(slot));
  }
}

template <typename T>
void PlaneLoaded<T>::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                          std::span<const MatrixView<float>> outputs) const {
  plane_tile<T>(recipe, *this, rows, other, cols, outputs);
}

template <typename T>
void PlaneLoaded<T>::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                          std::span<const MatrixView<double>> outputs) const {
  plane_tile<T>(recipe, *this, rows, other, cols, outputs);
}

template <typename T>
class PlanePath final : public Path {
 public:
  PlanePath(const Recipe& recipe, Precision precision, PlaneProgram program)
      : recipe_(recipe), precision_(precision), program_(std::move(program)) {}

  [[nodiscard]] std::string route() const override {
    // Number of planes per pair of images, counted once per stage.
    Index count = 0;
    for (const PlaneStage& stage : program_.stages) {
      if (stage.begin.positions() > 1) count += static_cast<Index>(stage.dy.size() * stage.dx.size());
    }
    return fmt::format("displacement planes ({}), 16 pairs at a time, {}", count,
                       std::is_same_v<T, float> ? "float" : "double");
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                             const std::function<void(Index)>& after) const override {
    return load_planes<T>(recipe_, program_, x, precision_, threads, after);
  }
  [[nodiscard]] std::size_t loaded_bytes(const SampleView& /*x*/) const override {
    std::size_t group = usize(recipe_.input.size() * plane_lanes) * sizeof(T);
    for (const PlaneStage& stage : program_.stages) {
      for (const PlaneOp& op : stage.ops) {
        Index features = op.main.op == Op::layer_norm ? 1 : 0;
        if (op.main.op == Op::dual) features = 2 + (op.rectifies ? 0 : feature_count(op.main));
        const Index places = std::max(op.before.positions(), op.after.positions()) + 1;
        group += sizeof(OpTrace) + allocation_overhead + usize(features * places * plane_lanes) * sizeof(T);
      }
    }
    return group / usize(plane_lanes) + 1;
  }
  /// 16 pairs at a time; tiles are larger for equal positions only, since these take little work.
  [[nodiscard]] Index tile_edge() const override { return recipe_.all_pairs ? 16 : 64; }

 private:
  const Recipe& recipe_;
  Precision precision_;
  PlaneProgram program_;
};

}  // namespace

std::unique_ptr<Path> plane_path(const Recipe& recipe, Precision precision, std::string& obstacle) {
  PlaneProgram program = plane_program(recipe);
  obstacle = program.obstacle;
  if (!obstacle.empty()) return nullptr;
  if (precision == Precision::f32 && runs_in_float(recipe)) {
    return std::make_unique<PlanePath<float>>(recipe, precision, std::move(program));
  }
  return std::make_unique<PlanePath<double>>(recipe, precision, std::move(program));
}

}  // namespace widelimit::cpu
