#include "widelimit/engine/cpu/plane/plane_engine.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/loaded.hpp"
#include "widelimit/engine/cpu/plane/plane_layout.hpp"
#include "widelimit/engine/cpu/plane/plane_runner.hpp"
#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit::cpu {

namespace {

template <typename T>
struct PlaneLoaded final : CpuLoaded {
  PlaneProgram program;
  std::vector<GroupTrace<T>> groups;
  Index images = 0;
  [[nodiscard]] Index count() const override { return images; }
  /// Images that group g really holds.
  [[nodiscard]] Index size(Index g) const { return std::min(plane_lanes, images - g * plane_lanes); }
  [[nodiscard]] const GroupTrace<T>& group(Index g) const { return groups[static_cast<std::size_t>(g)]; }
};

template <typename T>
const PlaneLoaded<T>& planes_of(const Loaded& x) {
  return dynamic_cast<const PlaneLoaded<T>&>(x);
}

/// Groups that a range of images touches.
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
      // Smaller factor first: r r' may leave the range that the product with the value is in.
      put(slot, l, static_cast<double>(values[l]) * std::min(r, r_col) * std::max(r, r_col));
    }
  };
  if (emit.nngp_slot >= 0) write(emit.nngp_slot, runner.result(0));
  for (Index m = 0; m < emit.ntk_count; ++m) write(emit.ntk_slot + m, runner.result(1 + m));
}

/// One tile: runs batches and puts their outputs in place.
template <typename T, typename Out>
class TileWriter {
 public:
  TileWriter(const PlaneLoaded<T>& a, const PlaneLoaded<T>& b, Range rows, Range cols, Index input_channels,
             std::span<const MatrixView<Out>> outputs)
      : a_(a), b_(b), rows_(rows), cols_(cols), outputs_(outputs), runner_(a.program, input_channels) {}

  /// Two groups, in the order that takes fewer batches.
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

  /// A group with itself: lane l holds image l and image l + shift, for all shifts up to half the group.
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
  /// Images of one set against group g of the other. `swapped`: they are of the second set.
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
  Index held_ = -1;                ///< the group in images_
};

}  // namespace

std::string plane_obstacle(const Recipe& recipe) { return plane_program(recipe).obstacle; }

Index plane_count(const Recipe& recipe) {
  Index count = 0;
  for (const PlaneStage& stage : plane_program(recipe).stages) {
    if (stage.begin.positions() > 1) count += static_cast<Index>(stage.dy.size() * stage.dx.size());
  }
  return count;
}

template <typename T>
std::unique_ptr<Loaded> load_planes(const Recipe& recipe, const SampleView& x, Precision precision, int threads,
                                    const std::function<void(Index done)>& after) {
  auto loaded = std::make_unique<PlaneLoaded<T>>();
  loaded->program = plane_program(recipe);
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

template <typename T>
bool holds_planes(const Loaded& x) {
  return dynamic_cast<const PlaneLoaded<T>*>(&x) != nullptr;
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
  // Turning the numbers of a group costs about as much as a few planes.
  const PlaneStage& stage = a.program.stages.front();
  const bool pays = stage.dy.size() * stage.dx.size() > 16;
  for (Index g = row_groups.begin; g < row_groups.end; ++g) {
    if (square && pays) writer.group_by_itself(g);
    if (square && !pays) writer.group_by_group(g, g, false);
    for (Index h = square ? g + 1 : col_groups.begin; h < col_groups.end; ++h) {
      writer.group_by_group(g, h, square);
    }
  }
}

template <typename T>
void plane_diagonal(const Recipe& recipe, const Loaded& x, int threads, MatrixView<double> outputs) {
  const auto& loaded = planes_of<T>(x);
  parallel_for(static_cast<Index>(loaded.groups.size()), threads, [&](Index g) {
    PlaneRunner<T> runner(loaded.program, recipe.input.channels);
    const PlaneBatch<T> batch{&loaded.group(g), {&loaded.group(g), 0, true}, true};
    runner.run(batch);
    each_output<T>(loaded.program.stages.back().last, batch, runner, [&](Index slot, Index lane, double value) {
      const Index i = g * plane_lanes + lane;
      if (i >= loaded.images) return;
      if (!std::isfinite(value)) report_overflow(slot, i, i, Precision::f64);
      outputs(slot, i) = value;
    });
  });
}

template std::unique_ptr<Loaded> load_planes<float>(const Recipe&, const SampleView&, Precision, int,
                                                    const std::function<void(Index)>&);
template std::unique_ptr<Loaded> load_planes<double>(const Recipe&, const SampleView&, Precision, int,
                                                     const std::function<void(Index)>&);
template bool holds_planes<float>(const Loaded&);
template bool holds_planes<double>(const Loaded&);
template void plane_tile<float, float>(const Recipe&, const Loaded&, Range, const Loaded&, Range,
                                       std::span<const MatrixView<float>>);
template void plane_tile<double, float>(const Recipe&, const Loaded&, Range, const Loaded&, Range,
                                        std::span<const MatrixView<float>>);
template void plane_tile<double, double>(const Recipe&, const Loaded&, Range, const Loaded&, Range,
                                         std::span<const MatrixView<double>>);
template void plane_diagonal<float>(const Recipe&, const Loaded&, int, MatrixView<double>);
template void plane_diagonal<double>(const Recipe&, const Loaded&, int, MatrixView<double>);

}  // namespace widelimit::cpu
