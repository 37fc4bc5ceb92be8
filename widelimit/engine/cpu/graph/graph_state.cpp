#include "widelimit/engine/cpu/graph/graph_state.hpp"

#include "widelimit/base/transpose.hpp"

#include <algorithm>
#include <utility>

namespace widelimit::cpu {

namespace {

bool is_pointwise(const Step& step) {
  return step.op == Op::affine || step.op == Op::dual || step.op == Op::layer_norm || step.op == Op::dropout;
}

/// Grows, never shrinks; what it held is lost.
MatrixView<double> scratch(Matrix<double>& memory, Index rows, Index cols) {
  const Index stride = padded(cols);
  if (memory.rows() * memory.cols() < rows * stride) memory = Matrix<double>(rows, stride);
  return {memory.data(), rows, cols, stride};
}

/// A sample's correlation with itself is 1.
void mark_equal(GraphState& state) {
  for (Index p = 0; p < state.rows(); ++p) {
    state.array(0)(p, p) = 1;
    state.array(1)(p, p) = 0;
  }
}

/// `step`, where it is a layer without bias: the dual before it adds ρ to the tangents in passing.
bool follows(const Step& step) { return step.op == Op::affine && step.b2 == 0; }

}  // namespace

void GraphState::resize(Index rows, Index cols, Index channels) {
  rows_ = rows;
  cols_ = cols;
  channels_ = channels;
  stride_ = padded(cols);
  const Index size = (2 + channels) * rows * stride_;
  if (memory_.rows() < size) memory_ = Matrix<double>(size, 1);
}

void GraphState::copy(GraphState& from) {
  resize(from.rows(), from.cols(), from.channels());
  turned = from.turned;
  std::copy_n(from.memory_.data(), (2 + channels_) * rows_ * stride_, memory_.data());
}

GraphState& GraphRunner::begin(const Recipe& recipe, Index rows, Index cols) {
  top_ = 0;
  if (stack_.empty()) stack_.resize(1);
  GraphState& state = stack_.front();
  state.resize(rows, cols, recipe.channels);
  state.turned = false;
  for (Index m = 0; m < recipe.channels; ++m) {
    const MatrixView<double> theta = state.array(2 + m);
    std::fill_n(theta.data, theta.rows * theta.stride, 0.0);
  }
  return state;
}

std::size_t GraphRunner::end_of_pass(const Recipe& recipe, std::size_t k) {
  const auto is = [&](std::size_t step, Op op) { return step < recipe.steps.size() && recipe.steps[step].op == op; };
  if (is(k, Op::fork) && is(k + 1, Op::readout)) return k + 2;
  std::size_t end = k + 1;
  while (is_pointwise(recipe.steps[k]) && end < recipe.steps.size() && is_pointwise(recipe.steps[end])) ++end;
  return end;
}

void GraphRunner::run_pass(const Recipe& recipe, std::size_t k, bool self) {
  const Step& step = recipe.steps[k];
  switch (step.op) {
    case Op::aggregate:
    case Op::readout:
      combine(passing_.front(), stack_[top_], spare_);
      std::swap(stack_[top_], spare_);
      if (self) mark_equal(stack_[top_]);
      break;
    case Op::fork:
      if (++top_ == stack_.size()) stack_.emplace_back();
      if (passing_.size() > 1) {
        combine(passing_[1], stack_[top_ - 1], stack_[top_]);
      } else {
        stack_[top_].copy(stack_[top_ - 1]);
      }
      break;
    case Op::swap:
      std::swap(stack_[top_], stack_[top_ - 1]);
      break;
    case Op::join:
      join(step, passing_.front(), self);
      break;
    case Op::emit:
      break;
    default:
      everywhere(recipe, k, self);
      break;
  }
}

void GraphRunner::everywhere(const Recipe& recipe, std::size_t k, bool self) {
  GraphState& state = stack_[top_];
  std::vector<double> own_tangents;  // dropout divides variance and tangent of a place with itself alike
  if (self && recipe.steps[k].op == Op::dropout) {
    for (Index m = 0; m < state.channels(); ++m) {
      for (Index p = 0; p < state.rows(); ++p) own_tangents.push_back(state.array(2 + m)(p, p));
    }
  }
  for (Index row = 0; row < state.rows(); ++row) {
    Strip<double> strip = state.strip(row);
    for (std::size_t s = 0; s < passing_.size(); ++s) {
      const Step& step = recipe.steps[k + s];
      const GraphSide& rows = passing_[s][state.turned];
      const GraphSide& cols = passing_[s][!state.turned];
      const bool followed = step.op == Op::dual && s + 1 < passing_.size() && follows(recipe.steps[k + s + 1]);
      strip.trained_begin = followed ? recipe.steps[k + s + 1].channel_begin : 0;
      strip.trained_end = followed ? recipe.steps[k + s + 1].channel_end : 0;
      apply(step, FeatureSides<double>{rows.features, rows.place + row, false, cols.features, cols.place}, {}, strip);
      s += followed ? 1 : 0;
    }
  }
  if (self) mark_equal(state);
  for (std::size_t i = 0; i < own_tangents.size(); ++i) {
    const auto m = static_cast<Index>(i) / state.rows();
    const auto p = static_cast<Index>(i) % state.rows();
    state.array(2 + m)(p, p) = own_tangents[i];
  }
}

void GraphRunner::combine(const GraphSides& sides, GraphState& from, GraphState& to) {
  const SparseBlock& rows = sides[from.turned].places;
  const SparseBlock& cols = sides[!from.turned].places;
  to.resize(cols.rows, rows.rows, from.channels());
  to.turned = !from.turned;
  const MatrixView<double> half = scratch(half_, rows.rows, from.cols());
  const MatrixView<double> turned_half = scratch(turned_half_, from.cols(), rows.rows);
  for (Index k = 0; k < 2 + from.channels(); ++k) {
    if (k == 1) continue;  // t follows from ρ
    combine_rows(rows, from.array(k), half);
    transpose(MatrixView<const double>(half), turned_half);
    combine_rows(cols, turned_half, to.array(k));
  }
  set_correlations(to.array(0), to.array(1));
}

void GraphRunner::join(const Step& step, const GraphSides& sides, bool self) {
  GraphState& other = stack_[top_];
  GraphState& sum = stack_[--top_];
  if (sides.left.places.all != nullptr) {
    // The state that came through fewer aggregations has fewer places, or the same.
    GraphState& coarse = sum.rows() * sum.cols() < other.rows() * other.cols() ? sum : other;
    combine(sides, coarse, spare_);
    std::swap(coarse, spare_);
  }
  if (sum.turned != other.turned) {
    spare_.resize(other.cols(), other.rows(), other.channels());
    spare_.turned = !other.turned;
    for (Index k = 0; k < 2 + other.channels(); ++k) {
      transpose(MatrixView<const double>(other.array(k)), spare_.array(k));
    }
    std::swap(other, spare_);
  }
  for (Index row = 0; row < sum.rows(); ++row) {
    const GraphSide& rows = sides[sum.turned];
    const GraphSide& cols = sides[!sum.turned];
    apply(step, FeatureSides<double>{rows.features, rows.place + row, false, cols.features, cols.place},
          other.strip(row), sum.strip(row));
  }
  if (self) mark_equal(sum);
}

}  // namespace widelimit::cpu
