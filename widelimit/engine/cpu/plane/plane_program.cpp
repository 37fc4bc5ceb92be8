#include "widelimit/engine/cpu/plane/plane_program.hpp"

#include "widelimit/engine/cpu/plane/plane.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"

#include <algorithm>
#include <cstdlib>

namespace widelimit::cpu {

namespace {

constexpr double largest_spill = 2.0 * (1 << 30);  ///< maximum bytes between two stages

bool is_total(const Step& step) {
  return step.op == Op::flatten || (step.op == Op::pool && step.after == Grid{} && step.size == step.before &&
                                    step.offset == Grid{0, 0} && !step.circular);
}

bool leaves_grid(const Step& step) {
  const auto out = [](Index size, Index stride, Index before, Index count, Index n) {
    return before > 0 || (count - 1) * stride + size > n;
  };
  return out(step.size.height, step.strides.height, step.offset.height, step.after.height, step.before.height) ||
         out(step.size.width, step.strides.width, step.offset.width, step.after.width, step.before.width);
}

bool strides_divide(const Step& step) {
  return step.before.height % step.strides.height == 0 && step.before.width % step.strides.width == 0;
}

/// Splits the steps into stages and fuses window, layer and rectifier.
class Cutting {
 public:
  explicit Cutting(PlaneProgram& program) : program_(program) {}

  void add(const Step& step) {
    if (stage_.ops.empty() && pending_.empty()) stage_.begin = step.before;
    switch (step.op) {
      case Op::attend:
        stop("attention mixes all positions");
        break;
      case Op::aggregate:
      case Op::readout:
        stop("graphs have no planes");
        break;
      case Op::pool:
      case Op::flatten:
      case Op::emit:
        end_stage(step);
        break;
      case Op::window:
      case Op::affine:
        if (step.op == Op::window || pending_.size() > 1 || (pending_.size() == 1 && pending_[0].op == Op::affine)) {
          release();
        }
        pending_.push_back(step);
        break;
      case Op::dual:
        if (step.dual.phi == Phi::identity) break;
        if (rectifier_slope(step.dual)) {
          rectifier(step);
        } else {
          plain(step);
        }
        break;
      default:
        plain(step);
        break;
    }
  }

 private:
  void stop(const std::string& reason) {
    if (program_.obstacle.empty()) program_.obstacle = reason;
  }
  /// Pushes pending windows and layers that are not fused with a rectifier.
  void release() {
    for (const Step& step : pending_) push({.main = step});
    pending_.clear();
  }
  void plain(const Step& step) {
    release();
    const auto change = step.op == Op::fork ? 1 : (step.op == Op::join ? -1 : 0);
    depth_ += change;
    program_.depth = std::max(program_.depth, static_cast<std::size_t>(depth_));
    push({.main = step});
  }
  void rectifier(const Step& step) {
    PlaneOp op{.main = step};
    for (const Step& earlier : pending_) (earlier.op == Op::window ? op.window : op.affine) = earlier;
    pending_.clear();
    op.rectifies = true;
    push(op);
  }
  void push(PlaneOp op) {
    const Step& first = op.window ? *op.window : op.main;
    op.before = first.before;
    op.after = op.main.op == Op::window ? op.main.after : op.main.before;
    stage_.ops.push_back(op);
  }
  void end_stage(const Step& step) {
    release();
    if (depth_ != 1) stop("pooling or flatten inside a residual branch");
    stage_.end = step.before;
    stage_.last = step;
    if (step.op == Op::emit) {
      if (step.before != Grid{}) stop("outputs at several positions");
    } else if (is_total(step)) {
      stage_.ending = StageEnd::total;
      stage_.weight =
          step.op == Op::flatten ? 1.0 / static_cast<double>(step.before.positions()) : step.scale * step.scale;
    } else {
      stage_.ending = StageEnd::pool;
      if (step.circular && leaves_grid(step)) stop("circular pooling across the edge");
    }
    program_.stages.push_back(std::move(stage_));
    stage_ = {};
  }

  PlaneProgram& program_;
  PlaneStage stage_;
  std::vector<Step> pending_;
  int depth_ = 1;
};

/// Uses wrapped planes for circular windows; then all windows of the stage must be circular.
void choose_wrapping(PlaneProgram& program) {
  for (PlaneStage& stage : program.stages) {
    bool open = false;
    bool divides = true;
    for (const PlaneOp& op : stage.ops) {
      const Step* window = op.main.op == Op::window ? &op.main : (op.window ? &*op.window : nullptr);
      if (window == nullptr) continue;
      divides &= strides_divide(*window);
      if (window->size == Grid{}) continue;
      (window->circular ? stage.wraps : open) = true;
    }
    if (stage.wraps && open) program.obstacle = "circular and other padding between two poolings";
    if (stage.wraps && !divides) program.obstacle = "circular padding with strides that do not divide the grid";
  }
}

/// Computes displacements at each operation relative to the end: products of the strides that follow.
void find_strides(PlaneProgram& program) {
  for (PlaneStage& stage : program.stages) {
    std::vector<Grid> stack{Grid{}};
    for (auto op = stage.ops.rbegin(); op != stage.ops.rend(); ++op) {
      op->stride_after = stack.back();
      const Step* window = op->main.op == Op::window ? &op->main : (op->window ? &*op->window : nullptr);
      if (window != nullptr) {
        stack.back().height *= window->strides.height;
        stack.back().width *= window->strides.width;
      } else if (op->main.op == Op::join) {
        stack.push_back(stack.back());
      } else if (op->main.op == Op::swap) {
        std::swap(stack.back(), stack[stack.size() - 2]);
      } else if (op->main.op == Op::fork) {
        const Grid branch = stack.back();
        stack.pop_back();
        if (!(branch == stack.back())) program.obstacle = "residual branches with different strides";
      }
      op->stride_before = stack.back();
    }
    stage.stride_begin = stack.back();
  }
}

/// Propagates the sign of Σ and whether it is still a sum over input channels.
void find_signs(PlaneProgram& program, const Recipe& recipe) {
  struct Known {
    bool nonnegative;
    Index products;
  };
  std::vector<Known> stack{{false, recipe.input.channels}};
  for (PlaneStage& stage : program.stages) {
    for (PlaneOp& op : stage.ops) {
      op.nonnegative = stack.back().nonnegative;
      op.products = stack.back().products;
      if (op.main.op == Op::dual) {
        stack.back() = {op.main.dual.phi == Phi::relu || op.main.dual.phi == Phi::abs, 0};
      } else if (op.main.op == Op::fork) {
        stack.push_back(stack.back());
      } else if (op.main.op == Op::swap) {
        std::swap(stack.back(), stack[stack.size() - 2]);
      } else if (op.main.op == Op::join) {
        const Known other = stack.back();
        stack.pop_back();
        stack.back() = {stack.back().nonnegative && other.nonnegative, std::max(stack.back().products, other.products)};
      }
    }
  }
}

/// Flags for the displacements of one axis, −(n−1) … n−1.
using DisplacementFlags = std::vector<char>;

std::vector<Index> listed(const DisplacementFlags& needed, Index n, bool wraps) {
  std::vector<Index> result;
  for (Index d = 1 - n; d < n; ++d) {
    if (!needed[static_cast<std::size_t>(d + n - 1)]) continue;
    const Index kept = wraps ? (d + n) % n : d;
    if (std::find(result.begin(), result.end(), kept) == result.end()) result.push_back(kept);
  }
  return result;
}

/// Returns the displacements of the fine grid that pooling reads for displacements `coarse`·stride_begin of the coarse
/// grid.
DisplacementFlags pooled_from(const std::vector<Index>& coarse, Index step, Index n, Index size, Index stride) {
  DisplacementFlags needed(static_cast<std::size_t>(2 * n - 1), 0);
  for (const Index d : coarse) {
    for (Index e = d * step * stride - size + 1; e < d * step * stride + size; ++e) {
      if (std::abs(e) < n) needed[static_cast<std::size_t>(e + n - 1)] = 1;
    }
  }
  return needed;
}

/// Returns the unwrapped displacements represented by wrapped ones.
std::vector<Index> unwrapped(const std::vector<Index>& list, Index n, bool wraps) {
  std::vector<Index> result = list;
  for (const Index d : list) {
    if (wraps && d > 0) result.push_back(d - n);
  }
  return result;
}

/// Proceeds backwards from the end, so that unused planes are never computed.
void find_displacements(PlaneProgram& program) {
  bool variance = false;
  for (std::size_t s = program.stages.size(); s-- > 0;) {
    PlaneStage& stage = program.stages[s];
    stage.variance_after = variance;
    for (const PlaneOp& op : stage.ops) variance |= op.main.op == Op::dual || op.main.op == Op::layer_norm;
    const auto axis = [&](Index n, bool all, const std::vector<Index>& later, Index later_n, Index step, Index size,
                          Index stride) {
      DisplacementFlags needed(static_cast<std::size_t>(2 * n - 1), all ? 1 : 0);
      needed[static_cast<std::size_t>(n - 1)] = 1;
      if (stage.ending == StageEnd::pool) {
        needed = pooled_from(unwrapped(later, later_n, program.stages[s + 1].wraps), step, n, size, stride);
      }
      return listed(needed, n, stage.wraps);
    };
    const bool all = stage.ending == StageEnd::total && stage.last.op == Op::pool;
    const bool pools = stage.ending == StageEnd::pool;
    const PlaneStage* next = pools ? &program.stages[s + 1] : &stage;
    stage.dy = axis(stage.end.height, all, next->dy, next->end.height, next->stride_begin.height,
                    stage.last.size.height, stage.last.strides.height);
    stage.dx = axis(stage.end.width, all, next->dx, next->end.width, next->stride_begin.width, stage.last.size.width,
                    stage.last.strides.width);
  }
}

void measure(PlaneProgram& program) {
  for (const PlaneStage& stage : program.stages) {
    program.largest = std::max({program.largest, stage.begin.positions(), stage.end.positions()});
    for (const PlaneOp& op : stage.ops) {
      program.largest = std::max({program.largest, op.before.positions(), op.after.positions()});
      if (op.window) program.tallest_window = std::max(program.tallest_window, Index{op.window->size.height});
      if (op.main.op == Op::window) {
        program.tallest_window = std::max(program.tallest_window, Index{op.main.size.height});
      }
    }
    const auto pairs = static_cast<double>(stage.begin.positions());
    const double bytes = pairs * pairs * static_cast<double>((1 + program.channels) * plane_lanes * 8);
    if (&stage != &program.stages.front() && bytes > largest_spill)
      program.obstacle = "too many positions after pooling";
  }
}

}  // namespace

PlaneProgram plane_program(const Recipe& recipe) {
  PlaneProgram program;
  program.channels = recipe.channels;
  Cutting cutting(program);
  for (const Step& step : recipe.steps) cutting.add(step);
  if (program.obstacle.empty()) choose_wrapping(program);
  if (program.obstacle.empty()) find_strides(program);
  if (!program.obstacle.empty()) return program;
  find_signs(program, recipe);
  find_displacements(program);
  measure(program);
  return program;
}

}  // namespace widelimit::cpu
