#include "widelimit/engine/cpu/plane/plane_runner.hpp"

#include "widelimit/engine/cpu/vector/apply.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit::cpu {

namespace {

/// Rounding error of 1 − |ρ|. Σ̂ is a sum of products of three rounded numbers: half an ulp each, one more per addition
/// along rows and columns of the window, the same for the norms, and a random walk over input channels.
template <typename T>
T rounding_of(const PlaneOp& op) {
  const double taps = op.window ? static_cast<double>(op.window->size.height + op.window->size.width) : 2.0;
  const double ulps = 6 + 0.5 * (taps - 2) + std::sqrt(static_cast<double>(op.products));
  return static_cast<T>(ulps) * std::numeric_limits<T>::epsilon();
}

template <typename T>
const Matrix<T>& numbers(const OpTrace& trace) {
  if constexpr (std::is_same_v<T, float>) {
    return trace.features.f32;
  } else {
    return trace.features.f64;
  }
}

/// Unwrapped sums may overwrite rows already read; wrapped ones read the first rows again at the end.
PlaneWindow window_on(const Step& step, const Plane& before) {
  return {step.size, step.strides, step.offset, step.circular && step.size != Grid{}, before.rows, before.cols};
}

}  // namespace

template <typename T>
PlaneRunner<T>::PlaneRunner(const PlaneProgram& program, Index input_channels)
    : program_(program), passes_(plane_passes<T>()), channels_(input_channels) {
  const Index arrays = 1 + program.channels;
  const Index stride = program.largest * plane_lanes;
  const auto levels = static_cast<Index>(program.depth) + 1;
  memory_ = Matrix<T>(levels * arrays, stride);
  // Upper bound of the row length: a plane never has more columns than the grid.
  Index longest = 1;
  for (const PlaneStage& stage : program.stages) {
    longest = std::max<Index>({longest, stage.begin.width, stage.end.width});
    for (const PlaneOp& op : stage.ops) longest = std::max<Index>({longest, op.before.width, op.after.width});
  }
  rows_ = Matrix<T>((program.tallest_window + 2) * arrays, longest * plane_lanes);
  for (Index l = 0; l < levels; ++l) {
    levels_.push_back({{memory_.data() + l * arrays * stride, stride, program.channels}, {}});
  }
  totals_.resize(static_cast<std::size_t>(arrays * plane_lanes));
}

template <typename T>
PlaneFeature<T> PlaneRunner<T>::feature(std::size_t s, std::size_t k, Index f) const {
  const Matrix<T>& col = numbers<T>(batch_.col->ops[s][k]);
  const Matrix<T>& row = numbers<T>(batch_.row.trace->ops[s][k]);
  // Negative f counts from the end, since series of two groups may have different lengths.
  const auto at = [f](const Matrix<T>& side) { return (f < 0 ? side.rows() + f : f) * side.cols(); };
  const Index lane = batch_.row.varies ? 0 : batch_.row.lane * (row.cols() / plane_lanes);
  return {row.data() + at(row) + lane, col.data() + at(col), batch_.row.varies};
}

template <typename T>
typename PlaneRunner<T>::Lanes PlaneRunner<T>::lanes_of(std::size_t s, std::size_t k) const {
  const OpTrace& row = batch_.row.trace->ops[s][k];
  const OpTrace& col = batch_.col->ops[s][k];
  Lanes result;
  for (Index l = 0; l < plane_lanes; ++l) {
    const auto i = static_cast<std::size_t>(batch_.row.varies ? l : batch_.row.lane);
    const auto j = static_cast<std::size_t>(l);
    result.gain[l] = static_cast<T>(row.gain[i] * col.gain[j]);
    result.constant[l] = static_cast<T>(row.constant[i] * col.constant[j]);
    result.theta[l] = static_cast<T>(row.theta[i] * col.theta[j]);
  }
  return result;
}

template <typename T>
Plane PlaneRunner<T>::plane_after(const PlaneOp& op, std::size_t s, Index dy, Index dx) {
  if (op.before == op.after && op.stride_before == op.stride_after) return top().plane;
  return make_plane(op.after, dy * op.stride_after.height, dx * op.stride_after.width, program_.stages[s].wraps);
}

template <typename T>
void PlaneRunner<T>::open_stage(const PlaneStage& stage, std::size_t s) {
  std::fill(totals_.begin(), totals_.end(), 0.0);
  lanes_.clear();
  for (std::size_t k = 0; k < stage.ops.size(); ++k) lanes_.push_back(lanes_of(s, k));
  if (stage.ending == StageEnd::emit) return;
  const PlaneStage& after = program_.stages[s + 1];
  const auto displacements = [&](const std::vector<Index>& list, Index stride, Index n) {
    std::vector<Index> result;
    for (const Index d : list) {
      result.push_back(d * stride);
      if (after.wraps && d > 0) result.push_back(d * stride - n);
    }
    return result;
  };
  next_.restart(after.begin, displacements(after.dy, after.stride_begin.height, after.begin.height),
                displacements(after.dx, after.stride_begin.width, after.begin.width), 1 + program_.channels);
}

template <typename T>
void PlaneRunner<T>::close_stage(const PlaneStage& stage) {
  if (stage.ending == StageEnd::total) {
    for (Index k = 0; k < 1 + program_.channels; ++k) {
      for (Index l = 0; l < plane_lanes; ++l) {
        next_.plane(k, 0, 0)[l] = static_cast<T>(stage.weight * totals_[static_cast<std::size_t>(k * plane_lanes + l)]);
      }
    }
  }
  std::swap(now_, next_);
}

template <typename T>
void PlaneRunner<T>::open_plane(const PlaneStage& stage, std::size_t s, Index dy, Index dx) {
  top_ = 0;
  top().plane = make_plane(stage.begin, dy * stage.stride_begin.height, dx * stage.stride_begin.width, stage.wraps);
  if (s > 0) return now_.copy_to(top().plane, top().state);
  const GroupTrace<T>& row = *batch_.row.trace;
  const Index lane = batch_.row.varies ? 0 : batch_.row.lane * (row.x.cols() / plane_lanes);
  passes_.input({row.x.data() + lane, batch_.col->x.data(), batch_.row.varies}, channels_, top().plane, top().state);
}

template <typename T>
void PlaneRunner<T>::close_plane(const PlaneStage& stage) {
  if (stage.ending == StageEnd::total) passes_.total(top().plane, top().state, totals_.data());
  if (stage.ending == StageEnd::pool) next_.add_pooled(stage.last, top().plane, top().state);
}

template <typename T>
void PlaneRunner<T>::run_op(std::size_t s, std::size_t k, Index dy, Index dx) {
  const PlaneStage& stage = program_.stages[s];
  const PlaneOp& op = stage.ops[k];
  const OpTrace& trace = batch_.col->ops[s][k];
  const Step& step = op.main;
  switch (step.op) {
    case Op::dual:
      if (op.rectifies) {
        run_rectifier(op, trace, s, k, dy, dx);
      } else {
        run_dual(op, s, k);
      }
      break;
    case Op::window:
      run_window(step, top().plane, plane_after(op, s, dy, dx));
      break;
    case Op::affine: {
      const Lanes& lanes = lanes_[k];
      passes_.affine(lanes.gain, lanes.constant, step.channel_begin, step.channel_end, top().plane, top().state);
      break;
    }
    case Op::layer_norm:
      passes_.scale(feature(s, k, 0), top().plane, top().state);
      break;
    case Op::dropout:
      if (batch_.self && dy == 0 && dx == 0) {
        T gain[plane_lanes];
        const T zero[plane_lanes] = {};
        std::fill_n(gain, plane_lanes, static_cast<T>(1 / step.rate));
        passes_.affine(gain, zero, 0, 0, top().plane, top().state);
      }
      break;
    case Op::fork: {
      Level& copy = levels_[top_ + 1];
      copy.plane = top().plane;
      for (Index m = 0; m < top().state.arrays(); ++m) {
        std::copy_n(top().state.array(m), top().plane.size(), copy.state.array(m));
      }
      ++top_;
      break;
    }
    case Op::swap:
      std::swap(top(), levels_[top_ - 1]);
      break;
    case Op::join: {
      const Lanes& lanes = lanes_[k];
      --top_;
      passes_.join(lanes.gain, lanes.constant, top().plane, levels_[top_ + 1].state, top().state);
      break;
    }
    default:
      break;
  }
}

template <typename T>
void PlaneRunner<T>::run_window(const Step& window, const Plane& before, const Plane& after) {
  const PlaneWindow sums = window_on(window, before);
  Level& spare = levels_.back();
  passes_.window(sums, static_cast<T>(window.scale), after, top().state, sums.wraps ? spare.state : top().state,
                 rows_.data());
  if (sums.wraps) std::swap(top().state, spare.state);
  top().plane = after;
}

template <typename T>
void PlaneRunner<T>::run_rectifier(const PlaneOp& op, const OpTrace& trace, std::size_t s, std::size_t k, Index dy,
                                   Index dx) {
  const Plane before = top().plane;
  const Plane after = plane_after(op, s, dy, dx);
  const Lanes& lanes = lanes_[k];
  const double slope = *rectifier_slope(op.main.dual);
  const double norm = 1 + slope * slope;
  RectifierPass<T> pass;
  if (op.window) pass.window = window_on(*op.window, before);
  pass.inverse = feature(s, k, 0);
  pass.deviation = feature(s, k, 1);
  pass.gain = lanes.gain;
  pass.constant = lanes.constant;
  pass.theta_gain = lanes.theta;
  pass.plain = trace.plain && batch_.row.trace->ops[s][k].plain;
  pass.theta_scale = op.window ? static_cast<T>(op.window->scale) : T(1);
  pass.linear = static_cast<T>(2 * slope / norm);
  pass.bend = static_cast<T>((1 - slope) * (1 - slope) / norm);
  pass.nonnegative = op.nonnegative;
  pass.equal = rounding_of<T>(op);
  if (op.affine) pass.trained_begin = op.affine->channel_begin, pass.trained_end = op.affine->channel_end;
  Level& spare = levels_.back();
  const bool apart = pass.window.wraps || pass.window.is_square();
  rectifier_pass(pass, after, top().state, apart ? spare.state : top().state, rows_.data());
  if (apart) std::swap(top().state, spare.state);
  top().plane = after;
}

template <typename T>
void PlaneRunner<T>::run_dual(const PlaneOp& op, std::size_t s, std::size_t k) {
  if constexpr (std::is_same_v<T, double>) {
    const Plane& plane = top().plane;
    const PlaneState<double>& state = top().state;
    const Features& row = batch_.row.trace->ops[s][k].features;
    const Features& col = batch_.col->ops[s][k].features;
    const bool varies = batch_.row.varies;
    passes_.scale(feature(s, k, -2), plane, state);
    for (const PlaneRect& rect : plane.rects()) {
      for (Index y = 0; y < rect.rows; ++y) {
        const Index at = ((rect.row + y) * plane.cols + rect.col) * plane_lanes;
        const Index p = (rect.first_y + y) * plane.grid_width + rect.first_x;
        const Index q = (rect.second_y + y) * plane.grid_width + rect.second_x;
        const Index size = rect.cols * plane_lanes;
        const Strip<double> strip{size,         state.data + at, rows_.data(), state.array(1) + at,
                                  state.stride, state.channels};
        passes_.correlation(strip.rho, strip.t, size, rounding_of<double>(op));
        const Index place = varies ? p * plane_lanes : batch_.row.lane * (row.stride() / plane_lanes) + p;
        apply(op.main, FeatureSides<double>{&row, place, varies, &col, q * plane_lanes, !varies}, Strip<double>{},
              strip);
      }
    }
    passes_.scale(feature(s, k, -1), plane, state);
  }
}

template <typename T>
std::vector<double> PlaneRunner<T>::variances() {
  const Index positions = now_.grid().positions();
  const T* sigma = now_.plane(0, 0, 0);
  std::vector<double> result;
  for (Index k = 0; k < positions * plane_lanes; ++k) {
    result.push_back(std::max(0.0, static_cast<double>(sigma[k])));
  }
  return result;
}

template <typename T>
void PlaneRunner<T>::run_stage(std::size_t s) {
  const PlaneStage& stage = program_.stages[s];
  open_stage(stage, s);
  for (const Index dy : stage.dy) {
    for (const Index dx : stage.dx) {
      open_plane(stage, s, dy, dx);
      for (std::size_t k = 0; k < stage.ops.size(); ++k) run_op(s, k, dy, dx);
      close_plane(stage);
    }
  }
  close_stage(stage);
}

template <typename T>
void PlaneRunner<T>::run(const PlaneBatch<T>& batch) {
  begin(batch);
  for (std::size_t s = 0; s < program_.stages.size(); ++s) run_stage(s);
}

template class PlaneRunner<float>;
template class PlaneRunner<double>;

}  // namespace widelimit::cpu
