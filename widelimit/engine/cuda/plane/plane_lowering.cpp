#include "widelimit/engine/cuda/plane/plane_lowering.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"
#include "widelimit/engine/cuda/plane/plane_team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace widelimit::cuda {

namespace {

using cpu::PlaneOp;
using cpu::PlaneStage;
using cpu::StageEnd;

PlaneExtent extent(Grid grid) { return {grid.height, grid.width}; }

/// Threshold below which 1 − |ρ| is rounding error, as on the CPU. [plane_runner.cpp]
double rounding_of(const PlaneOp& op, Precision precision) {
  const double taps = op.window ? static_cast<double>(op.window->size.height + op.window->size.width) : 2.0;
  const double ulps = 6 + 0.5 * (taps - 2) + std::sqrt(static_cast<double>(op.products));
  return ulps * (precision == Precision::f32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                             : std::numeric_limits<double>::epsilon());
}

bool is_square(const Step& window) {
  return window.size == Grid{3, 3} && window.strides == Grid{} && window.offset == Grid{1, 1} && !window.circular &&
         window.before == window.after;
}

void set_window(const Step& window, PlaneStep& step) {
  step.windowed = window.size != Grid{} || window.strides != Grid{};
  step.wraps = window.circular && window.size != Grid{};
  step.size = extent(window.size);
  step.strides = extent(window.strides);
  step.offset = extent(window.offset);
  step.square = is_square(window);
}

/// Number of values per position that a step reads, besides gain, constant and factor of Θ.
int feature_rows(const PlaneOp& op) {
  if (op.main.op == Op::dual) return 2;
  return op.main.op == Op::layer_norm ? 1 : 0;
}

std::optional<PlaneStepKind> kind_of(const PlaneOp& op) {
  switch (op.main.op) {
    case Op::window:
      return PlaneStepKind::window;
    case Op::affine:
      return PlaneStepKind::affine;
    case Op::dual:
      return op.rectifies ? std::optional(PlaneStepKind::rectifier) : std::nullopt;
    case Op::layer_norm:
      return PlaneStepKind::layer_norm;
    case Op::dropout:
      return PlaneStepKind::dropout;
    case Op::fork:
      return PlaneStepKind::fork;
    case Op::swap:
      return PlaneStepKind::swap;
    case Op::join:
      return PlaneStepKind::join;
    default:
      return std::nullopt;
  }
}

/// Converts an operation to a step; the caller sets its offsets in records.
PlaneStep step_of(const PlaneOp& op, PlaneStepKind kind, Precision precision) {
  PlaneStep step;
  step.kind = kind;
  step.before = extent(op.before);
  step.after = extent(op.after);
  step.stride_before = extent(op.stride_before);
  step.stride_after = extent(op.stride_after);
  if (kind == PlaneStepKind::window) {
    set_window(op.main, step);
    step.scale = op.main.scale;
  } else if (kind == PlaneStepKind::dropout) {
    step.scale = op.main.rate;
  } else if (kind == PlaneStepKind::affine) {
    step.trained_begin = op.main.channel_begin;
    step.trained_end = op.main.channel_end;
  } else if (kind == PlaneStepKind::rectifier) {
    if (op.window) set_window(*op.window, step);
    if (op.affine) step.trained_begin = op.affine->channel_begin, step.trained_end = op.affine->channel_end;
    const double slope = *cpu::rectifier_slope(op.main.dual);
    step.linear = 2 * slope / (1 + slope * slope);
    step.bend = (1 - slope) * (1 - slope) / (1 + slope * slope);
    step.equal = rounding_of(op, precision);
  }
  return step;
}

bool is_square_layer(const PlaneOp& op, Grid grid) {
  return op.rectifies && op.window && op.affine && op.before == grid && op.after == grid && is_square(*op.window) &&
         op.affine->b2 == 0;
}

std::optional<RegisterReadout> register_readout(const PlaneStage& stage) {
  if (stage.ending == StageEnd::total) {
    return stage.last.op == Op::flatten ? RegisterReadout::flat : RegisterReadout::total;
  }
  const Step& pool = stage.last;
  const bool halves = stage.ending == StageEnd::pool && pool.size == Grid{2, 2} && pool.strides == Grid{2, 2} &&
                      pool.offset == Grid{0, 0} && stage.end.height % 2 == 0 && stage.end.width % 2 == 0 &&
                      pool.after == Grid{stage.end.height / 2, stage.end.width / 2};
  return halves ? std::optional(RegisterReadout::pool) : std::nullopt;
}

/// The first stage as a register stack, and the factor by which its state is smaller than Σ/(R R') of the inputs.
struct StackInRegisters {
  RegisterStack stack;
  RegisterReadout readout;
  double scale;
};

std::optional<StackInRegisters> stack_in_registers(const Recipe& recipe, const PlaneStage& stage, int shared_memory) {
  const auto readout = register_readout(stage);
  if (!readout || recipe.channels > 1 || recipe.input.channels > most_register_channels || stage.wraps ||
      stage.begin.height > 32 || stage.begin.width > 32 || stage.ops.empty() ||
      stage.ops.size() > static_cast<std::size_t>(most_register_layers)) {
    return std::nullopt;
  }
  StackInRegisters result{{}, *readout, 1.0};
  RegisterStack& stack = result.stack;
  stack.height = stage.begin.height;
  stack.width = stage.begin.width;
  stack.channels = static_cast<int>(recipe.input.channels);
  stack.layers = static_cast<int>(stage.ops.size());
  for (std::size_t l = 0; l < stage.ops.size(); ++l) {
    const PlaneOp& op = stage.ops[l];
    if (!is_square_layer(op, stage.begin)) return std::nullopt;
    const double slope = *cpu::rectifier_slope(op.main.dual);
    if (l > 0 && static_cast<float>(slope) != stack.slope) return std::nullopt;
    stack.slope = static_cast<float>(slope);
    if (op.affine->channel_begin < op.affine->channel_end) stack.trained |= std::uint64_t{1} << l;
    result.scale *= op.affine->w2 * (1 + slope * slope) / 2 * op.window->scale / std::numbers::pi;
    if (l % register_rescale_period == register_rescale_period - 1) result.scale /= register_rescale;
  }
  if (!fits_shared_memory(stack, *readout, shared_memory)) return std::nullopt;
  if (!(result.scale > 1e-25 && result.scale < 1e25)) return std::nullopt;  // stored as float
  return result;
}

/// Returns a stage as a packed stack if its kernels support it.
std::optional<PackedStack> packed_stack(const Recipe& recipe, const PlaneStage& stage, int shared_memory) {
  const bool fits = stage.begin == Grid{8, 8} || stage.begin == Grid{16, 16};
  const bool all = stage.ending == StageEnd::pool || (stage.ending == StageEnd::total && stage.last.op == Op::pool);
  if (!fits || !all || stage.wraps || recipe.channels > 1 || stage.ops.empty() ||
      stage.ops.size() > static_cast<std::size_t>(most_packed_layers)) {
    return std::nullopt;
  }
  PackedStack stack;
  stack.layers = static_cast<std::int32_t>(stage.ops.size());
  if (packed_bytes(stack.layers, extent(stage.begin)) > shared_memory) return std::nullopt;
  for (std::size_t l = 0; l < stage.ops.size(); ++l) {
    const PlaneOp& op = stage.ops[l];
    if (!is_square_layer(op, stage.begin)) return std::nullopt;
    const auto slope = static_cast<float>(*cpu::rectifier_slope(op.main.dual));
    if (l > 0 && slope != stack.slope) return std::nullopt;
    stack.slope = slope;
    stack.is_signed |= !op.nonnegative;
    if (op.affine->channel_begin < op.affine->channel_end) stack.trained |= std::uint64_t{1} << l;
  }
  return stack;
}

class Lowering {
 public:
  Lowering(const Recipe& recipe, Precision precision, int shared_memory, LoweredPlanes& result)
      : recipe_(recipe), shared_memory_(shared_memory), result_(result) {
    result.program = cpu::plane_program(recipe);
    result.obstacle = result.program.obstacle;
    result.arithmetic = precision == Precision::f32 && cpu::runs_in_float(recipe) ? Precision::f32 : Precision::f64;
    result.input_channels = static_cast<std::int32_t>(recipe.input.channels);
    result.outputs = static_cast<std::int32_t>(recipe.outputs);
    if (result.program.depth + 1 > static_cast<std::size_t>(most_plane_levels)) {
      result.obstacle = fmt::format("{} nested residual branches", result.program.depth - 1);
    }
  }

  void run() {
    if (!result_.obstacle.empty()) return;
    const auto& stages = result_.program.stages;
    result_.emit = stages.back().last;
    std::optional<StackInRegisters> stack;
    if (result_.arithmetic == Precision::f32) stack = stack_in_registers(recipe_, stages.front(), shared_memory_);
    if (stack) {
      result_.registers = stack->stack;
      result_.readout = stack->readout;
    } else {
      result_.record_size = recipe_.input.size();
    }
    for (std::size_t s = stack ? 1 : 0; s < stages.size() && result_.obstacle.empty(); ++s) {
      LoweredStage stage = lowered(stages[s]);
      if (result_.arithmetic == Precision::f32) pack(stages[s], stage);
      if (s > 0) set_source(stages[s - 1], stage);
      if (s == 1 && stack) {
        stage.source = stack->readout == RegisterReadout::pool ? PlaneSource::parts : PlaneSource::sums;
        stage.source_scale *= stack->scale;
        stage.source_numbers = static_cast<std::int32_t>(result_.record_size++);
      }
      result_.stages.push_back(std::move(stage));
    }
  }

 private:
  LoweredStage lowered(const PlaneStage& stage) {
    LoweredStage result;
    result.begin = extent(stage.begin);
    result.end = extent(stage.end);
    result.stride_begin = extent(stage.stride_begin);
    result.wraps = stage.wraps;
    result.dy.assign(stage.dy.begin(), stage.dy.end());
    result.dx.assign(stage.dx.begin(), stage.dx.end());
    Index largest = std::max(stage.begin.positions(), stage.end.positions());
    int depth = 1;
    int deepest = 1;
    for (const PlaneOp& op : stage.ops) {
      const auto kind = kind_of(op);
      if (!kind) {
        result_.obstacle = fmt::format("{} on images", to_string(op.main.dual.phi));
        return result;
      }
      depth += op.main.op == Op::fork ? 1 : (op.main.op == Op::join ? -1 : 0);
      deepest = std::max(deepest, depth);
      largest = std::max({largest, op.before.positions(), op.after.positions()});
      PlaneStep step = step_of(op, *kind, result_.arithmetic);
      step.features = static_cast<std::int32_t>(result_.record_size);
      result_.record_size += feature_rows(op) * op.after.positions();
      step.numbers = static_cast<std::int32_t>(result_.record_size);
      result_.record_size += 3;
      result.steps.push_back(step);
    }
    result.levels = deepest + 1;
    result.largest = static_cast<std::int32_t>(largest);
    if (stage.ending != StageEnd::emit) {
      result.sink = stage.ending == StageEnd::pool ? PlaneSink::planes : PlaneSink::sums;
    }
    return result;
  }

  void pack(const PlaneStage& from, LoweredStage& stage) {
    stage.packed = packed_stack(recipe_, from, shared_memory_);
    if (!stage.packed) return;
    stage.packed->tables = static_cast<std::int32_t>(result_.record_size);
    result_.record_size += stage.packed->layers * from.begin.positions();
    stage.packed->factor = static_cast<std::int32_t>(result_.record_size++);
  }

  static void set_source(const PlaneStage& before, LoweredStage& stage) {
    if (before.ending == StageEnd::total) {
      stage.source = PlaneSource::sums;
      stage.source_scale = before.weight;
      return;
    }
    stage.source = PlaneSource::pooled;
    stage.source_scale = before.last.scale * before.last.scale;
    stage.fine = extent(before.end);
    stage.pool_size = extent(before.last.size);
    stage.pool_strides = extent(before.last.strides);
    stage.pool_offset = extent(before.last.offset);
  }

  const Recipe& recipe_;
  int shared_memory_;
  LoweredPlanes& result_;
};

/// Copies the values of a group of 16 images to their records.
template <typename T>
class RecordWriter {
 public:
  RecordWriter(const LoweredPlanes& lowered, const cpu::GroupTrace<T>& trace) : lowered_(lowered), trace_(trace) {}

  void write(Index lane, T* record) const {
    const std::size_t first = lowered_.registers ? 1 : 0;
    if (!lowered_.registers) {
      for (Index k = 0; k < trace_.x.cols() / cpu::plane_lanes; ++k) record[k] = input(k, lane);
    }
    for (std::size_t s = 0; s < lowered_.stages.size(); ++s) {
      const LoweredStage& stage = lowered_.stages[s];
      const auto l = static_cast<std::size_t>(lane);
      if (stage.source_numbers >= 0) {
        record[stage.source_numbers] = static_cast<T>(trace_.begin_scale[0][l] / trace_.begin_scale[s + first][l]);
      }
      for (std::size_t k = 0; k < stage.steps.size(); ++k) {
        const PlaneStep& step = stage.steps[k];
        const cpu::OpTrace& op = trace_.ops[s + first][k];
        features(op, lane, step.numbers - step.features, step.after.height * step.after.width, record + step.features);
        record[step.numbers] = static_cast<T>(op.gain[l]);
        record[step.numbers + 1] = static_cast<T>(op.constant[l]);
        record[step.numbers + 2] = static_cast<T>(op.theta[l]);
      }
      if (stage.packed) write_packed(stage, trace_.ops[s + first], lane, record);
    }
  }

  /// Writes each channel as a 32 × 32 table of positions.
  void write_tables(Index lane, float* tables) const {
    const RegisterStack& stack = *lowered_.registers;
    for (Index c = 0; c < stack.channels; ++c) {
      for (Index y = 0; y < stack.height; ++y) {
        for (Index x = 0; x < stack.width; ++x) {
          tables[(c * 32 + y) * 32 + x] = static_cast<float>(input((y * stack.width + x) * stack.channels + c, lane));
        }
      }
    }
  }

  /// Writes the tables of a packed stage, whose state is larger by π/h per preceding layer; h is the factor of Θ.
  static void write_packed(const LoweredStage& stage, const std::vector<cpu::OpTrace>& ops, Index lane, T* record) {
    const Index positions = Index{stage.begin.height} * stage.begin.width;
    double growth = 1;
    T* to = record + stage.packed->tables;
    for (std::size_t k = 0; k < stage.steps.size(); ++k) {
      const T* inverse = ops[k].features.template array<T>(0);
      for (Index p = 0; p < positions; ++p, ++to) {
        const auto v = static_cast<double>(inverse[p * cpu::plane_lanes + lane]);
        *to = static_cast<T>(v > 0 ? growth / v : 0.0);
      }
      growth *= std::sqrt(std::numbers::pi) / ops[k].theta[usize(lane)];
    }
    record[stage.packed->factor] = static_cast<T>(1 / growth);
  }

 private:
  [[nodiscard]] T input(Index k, Index lane) const { return trace_.x.data()[k * cpu::plane_lanes + lane]; }
  static void features(const cpu::OpTrace& op, Index lane, Index count, Index positions, T* to) {
    for (Index k = 0; k < count; ++k) {
      to[k] = op.features.template array<T>(k / positions)[k % positions * cpu::plane_lanes + lane];
    }
  }

  const LoweredPlanes& lowered_;
  const cpu::GroupTrace<T>& trace_;
};

}  // namespace

LoweredPlanes lower_planes(const Recipe& recipe, Precision precision, int shared_memory) {
  LoweredPlanes result;
  Lowering(recipe, precision, shared_memory, result).run();
  return result;
}

template <typename T>
PlaneRecords<T> trace_records(const Recipe& recipe, const LoweredPlanes& lowered, const SampleView& x, Range images,
                              Precision precision, int threads, const std::function<void(Index done)>& after) {
  PlaneRecords<T> result;
  const Index count = images.size();
  const Index tables = lowered.registers ? Index{lowered.registers->tables()} * 32 * 32 : 0;
  result.records.resize(usize(count * lowered.record_size));
  result.registers.resize(usize(count * tables));
  result.scales.resize(usize(count));
  const Index groups = (count + cpu::plane_lanes - 1) / cpu::plane_lanes;
  std::vector<double> errors(usize(groups), 0.0);
  parallel_for(
      groups, threads,
      [&](Index g) {
        const Index begin = images.begin + g * cpu::plane_lanes;
        const auto trace = cpu::trace_group<T>(recipe, lowered.program, x, begin, precision, &errors[usize(g)]);
        const RecordWriter<T> writer(lowered, trace);
        for (Index lane = 0; lane < std::min(cpu::plane_lanes, images.end - begin); ++lane) {
          const Index k = begin + lane - images.begin;
          writer.write(lane, result.records.data() + k * lowered.record_size);
          if (tables > 0) writer.write_tables(lane, result.registers.data() + k * tables);
          result.scales[usize(k)] = trace.scale[usize(lane)];
        }
      },
      [&](Index done) { after(std::min(count, done * cpu::plane_lanes)); });
  result.error = *std::max_element(errors.begin(), errors.end());
  return result;
}

template PlaneRecords<float> trace_records(const Recipe&, const LoweredPlanes&, const SampleView&, Range, Precision,
                                           int, const std::function<void(Index)>&);
template PlaneRecords<double> trace_records(const Recipe&, const LoweredPlanes&, const SampleView&, Range, Precision,
                                            int, const std::function<void(Index)>&);

}  // namespace widelimit::cuda
