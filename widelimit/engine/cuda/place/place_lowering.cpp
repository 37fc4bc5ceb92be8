#include "widelimit/engine/cuda/place/place_lowering.hpp"

#include "widelimit/engine/cpu/graph/graph_program.hpp"
#include "widelimit/engine/cpu/image/pair_state.hpp"
#include "widelimit/engine/cuda/dense_lowering.hpp"

#include <algorithm>
#include <utility>

namespace widelimit::cuda {

namespace {

using Levels = LoweredPlaces::Levels;

/// Levels of an image network: distinct grid sizes in ascending order of positions.
void set_image_levels(const Recipe& recipe, LoweredPlaces& lowered) {
  std::vector<Index>& positions = lowered.positions;
  positions.push_back(recipe.input.positions());
  for (const Step& step : recipe.steps) {
    positions.push_back(step.before.positions());
    positions.push_back(step.after.positions());
  }
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  const auto level = [&](Index count) {
    return static_cast<std::int32_t>(std::ranges::lower_bound(positions, count) - positions.begin());
  };
  for (const Step& step : recipe.steps) {
    const std::int32_t before = level(step.before.positions());
    const bool moves = step.op == Op::window || step.op == Op::pool || step.op == Op::flatten || step.op == Op::attend;
    lowered.levels.push_back({before, before, moves ? level(step.after.positions()) : before});
  }
  lowered.input_level = level(recipe.input.positions());
  lowered.level_count = static_cast<std::int32_t>(positions.size());
}

/// Levels of a graph network: the whole graph, then rounds of colour refinement.
void set_graph_levels(const Recipe& recipe, LoweredPlaces& lowered) {
  static_assert(cpu::whole_graph == -1);
  const auto level = [](Index rounds) { return static_cast<std::int32_t>(rounds + 1); };
  const cpu::GraphProgram program(recipe);
  for (const cpu::GraphStep& step : program.steps) {
    lowered.levels.push_back({level(step.before), level(step.beneath), level(step.after)});
  }
  lowered.input_level = level(0);
  lowered.level_count = level(program.rounds) + 1;
}

/// Emits the passes of a recipe and allocates buffers for states. A state shared by two branches has one buffer until
/// one of the branches modifies it.
class Builder {
 public:
  Builder(const Recipe& recipe, LoweredPlaces& lowered) : recipe_(recipe), lowered_(lowered) {
    lowered_.buffers.push_back({0, 0, false});
    users_.push_back(1);
    const PlaceExtent inputs{lowered_.input_level, lowered_.input_level, !recipe.all_pairs && !recipe.input.nodes};
    PlacePass pass;
    pass.gather = PlaceGather::inputs;
    put(pass, inputs);
  }

  void add(std::size_t k) {
    const Step& step = recipe_.steps[k];
    switch (step.op) {
      case Op::fork:
        ++users_[usize(stack_.back().buffer)];
        stack_.push_back(stack_.back());
        break;
      case Op::swap:
        std::swap(stack_.back(), stack_[stack_.size() - 2]);
        break;
      case Op::window:
        add_window(k, step.scale, cpu::window_sources(step));
        break;
      case Op::flatten: {
        const Index positions = step.before.positions();
        std::vector<std::vector<Index>> sources;
        for (Index p = 0; p < positions; ++p) sources.push_back({p});
        add_window(k, 1.0 / static_cast<double>(positions), sources);
        break;
      }
      case Op::pool:
        combine(k, lowered_.levels[k].after, !step.all_pairs_after, false);
        break;
      case Op::attend:
        combine(k, lowered_.levels[k].after, false, true);
        break;
      case Op::aggregate:
      case Op::readout:
        combine(k, lowered_.levels[k].after, false, false);
        break;
      case Op::join:
        join(k);
        break;
      default:
        add_alone(k);
        break;
    }
  }

 private:
  struct State {
    std::int32_t buffer = 0;
    PlaceExtent extent;
  };

  static std::int32_t entry(std::size_t k) { return static_cast<std::int32_t>(k) + 1; }

  /// Returns a free buffer, enlarged to hold `extent`.
  std::int32_t acquire(const PlaceExtent& extent) {
    std::size_t b = 1;
    while (b < users_.size() && (users_[b] > 0 || lowered_.buffers[b].equal != extent.equal)) ++b;
    if (b == users_.size()) {
      users_.push_back(0);
      lowered_.buffers.push_back(extent);
    }
    ++users_[b];
    grow(b, extent);
    return static_cast<std::int32_t>(b);
  }
  void grow(std::size_t b, const PlaceExtent& extent) {
    PlaceExtent& held = lowered_.buffers[b];
    held.rows = std::max(held.rows, extent.rows);
    held.cols = std::max(held.cols, extent.cols);
  }
  State pop() {
    const State state = stack_.back();
    stack_.pop_back();
    --users_[usize(state.buffer)];
    return state;
  }
  /// Appends a pass that produces a new state.
  void put(PlacePass pass, const PlaceExtent& after) {
    pass.after = after;
    pass.target = acquire(after);
    pass.first = static_cast<std::int32_t>(lowered_.steps.size());
    lowered_.passes.push_back(pass);
    stack_.push_back({pass.target, after});
  }

  void add_window(std::size_t k, double scale, const std::vector<std::vector<Index>>& sources) {
    const State state = stack_.back();
    const std::int32_t level = lowered_.levels[k].after;
    const bool flattens = recipe_.steps[k].op == Op::flatten;
    PlacePass pass;
    pass.gather = PlaceGather::window;
    pass.source = state.buffer;
    pass.before = state.extent;
    pass.entry = entry(k);
    pass.scale = scale;
    pass.first_tap = static_cast<std::int32_t>(lowered_.taps.size());
    pass.taps = static_cast<std::int32_t>(sources.size());
    for (const auto& tap : sources) {
      for (const Index place : tap) lowered_.taps.push_back(static_cast<std::int32_t>(place));
    }
    stack_.pop_back();  // its buffer stays in use while the target is written
    put(pass, {level, level, state.extent.equal || flattens});
    --users_[usize(state.buffer)];
  }

  void combine(std::size_t k, std::int32_t level, bool equal, bool dense) {
    const State state = pop();
    PlacePass rows;
    rows.gather = PlaceGather::rows;
    rows.dense = dense;
    rows.source = state.buffer;
    rows.before = state.extent;
    rows.entry = entry(k);
    rows.after = {level, state.extent.cols, false};
    grow(0, rows.after);
    lowered_.passes.push_back(rows);
    PlacePass cols = rows;
    cols.gather = PlaceGather::cols;
    cols.source = 0;
    cols.before = rows.after;
    put(cols, {level, level, equal});
  }

  /// Refines the top state to the places after a join.
  void refine(std::size_t k) {
    if (stack_.back().extent.rows != lowered_.levels[k].after) {
      combine(k, lowered_.levels[k].after, stack_.back().extent.equal, false);
    }
  }

  void join(std::size_t k) {
    refine(k);
    std::swap(stack_.back(), stack_[stack_.size() - 2]);
    refine(k);
    const State state = pop();
    const State other = stack_.back();
    PlacePass pass;
    pass.gather = PlaceGather::join;
    pass.source = state.buffer;
    pass.before = state.extent;
    pass.other = other.buffer;
    pass.beside = other.extent;
    pass.entry = entry(k);
    PlaceExtent after = state.extent;
    after.equal = state.extent.equal || other.extent.equal;
    if (after == state.extent && users_[usize(state.buffer)] == 0) {  // in place
      pass.after = after;
      pass.target = state.buffer;
      pass.first = static_cast<std::int32_t>(lowered_.steps.size());
      pop();
      ++users_[usize(state.buffer)];
      lowered_.passes.push_back(pass);
      stack_.push_back({state.buffer, after});
      return;
    }
    ++users_[usize(state.buffer)];
    stack_.pop_back();
    put(pass, after);
    --users_[usize(state.buffer)];
    --users_[usize(other.buffer)];
  }

  void add_alone(std::size_t k) {
    std::optional<DenseStep> step = dense_step(recipe_.steps[k], lowered_.constants);
    if (!step) return;
    step->row_feature = entry(k);
    const State state = stack_.back();
    const bool shared = users_[usize(state.buffer)] > 1;
    const bool fresh =
        lowered_.passes.back().target == state.buffer && lowered_.passes.back().gather != PlaceGather::rows;
    if (!fresh || (shared && step->op != DenseOp::emit)) {
      PlacePass pass;
      pass.source = state.buffer;
      pass.before = state.extent;
      if (shared) {
        stack_.pop_back();
        put(pass, state.extent);
        --users_[usize(state.buffer)];
      } else {
        pop();
        pass.after = state.extent;
        pass.target = state.buffer;
        pass.first = static_cast<std::int32_t>(lowered_.steps.size());
        ++users_[usize(state.buffer)];
        lowered_.passes.push_back(pass);
        stack_.push_back(state);
      }
    }
    lowered_.steps.push_back(*step);
    ++lowered_.passes.back().count;
  }

  const Recipe& recipe_;
  LoweredPlaces& lowered_;
  std::vector<State> stack_;
  std::vector<std::int32_t> users_;  ///< number of states in each buffer
};

}  // namespace

LoweredPlaces lower_places(const Recipe& recipe, Precision precision) {
  LoweredPlaces lowered;
  lowered.arithmetic = precision == Precision::f32 && cpu::runs_in_float(recipe) ? Precision::f32 : Precision::f64;
  if (recipe.input.nodes) {
    set_graph_levels(recipe, lowered);
  } else {
    set_image_levels(recipe, lowered);
  }
  Builder builder(recipe, lowered);
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) builder.add(k);
  return lowered;
}

}  // namespace widelimit::cuda
