#include "widelimit/engine/cpu/graph/graph_state.hpp"

#include "widelimit/base/transpose.hpp"

#include <algorithm>
#include <utility>

namespace widelimit::cpu {

namespace {

bool is_pointwise(const Step& step) {
  return step.op == Op::affine || step.op == Op::dual || step.op == Op::layer_norm || step.op == Op::dropout;
}

/// Grows, never shrinks; the contents are lost.
MatrixView<double> scratch(Matrix<double>& memory, Index rows, Index cols) {
  const Index stride = padded(cols);
  if (memory.rows() * memory.cols() < rows * stride) memory = Matrix<double>(rows, stride);
  return {memory.data(), rows, cols, stride};
}

/// Sets the correlation of each place with itself to 1.
void mark_equal(GraphState& state) {
  for (Index p = 0; p < state.rows(); ++p) {
    state.array(0)(p, p) = 1;
    state.array(1)(p, p) = 0;
  }
}

/// Returns true for a layer without bias: the preceding dual then adds ρ to the tangents in the same pass.
bool follows(const Step& step) { return step.op == Op::affine && step.b2 == 0; }

/// Returns true if a step acts identically on all pairs, independent of their places.
bool is_uniform(const Step& step) {
  const bool rectifier = step.op == Op::dual && rectifier_slope(step.dual).has_value();
  return rectifier || follows(step) || step.op == Op::layer_norm || step.op == Op::dropout;
}

}  // namespace

void GraphState::resize(Index rows, Index cols, Index channels) {
  rows_ = rows;
  cols_ = cols;
  channels_ = channels;
  stride_ = padded(cols);
  const Index size = (2 + channels) * rows * stride_;
  if (memory_.rows() < size) memory_ = Matrix<double>(size, 1);
}

std::vector<Range> GraphState::row_blocks() const {
  constexpr Index long_enough = 768;  // elements per strip: amortises the call and fits in the first-level cache
  const Index count = std::max<Index>(1, long_enough / stride_);
  std::vector<Range> blocks;
  for (Index row = 0; row < rows_; row += count) blocks.push_back({row, std::min(row + count, rows_)});
  return blocks;
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
  const bool passes = is_pointwise(recipe.steps[k]) || is(k, Op::aggregate);
  while (passes && end < recipe.steps.size() && is_pointwise(recipe.steps[end])) ++end;
  return end;
}

void GraphRunner::run_pass(const Recipe& recipe, std::size_t k, bool self) {
  const Step& step = recipe.steps[k];
  switch (step.op) {
    case Op::aggregate:
      combine(passing_.front(), stack_[top_], spare_, [&](Range rows) { pass(recipe, k, 1, rows, spare_); });
      std::swap(stack_[top_], spare_);
      if (self) mark_equal(stack_[top_]);
      break;
    case Op::readout:
      combine(passing_.front(), stack_[top_], spare_, [](Range) {});
      std::swap(stack_[top_], spare_);
      if (self) mark_equal(stack_[top_]);
      break;
    case Op::fork:
      if (++top_ == stack_.size()) stack_.emplace_back();
      if (passing_.size() > 1) {
        combine(passing_[1], stack_[top_ - 1], stack_[top_], [](Range) {});
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
  std::vector<double> own_tangents;  // dropout scales variance and tangent of a place with itself alike
  if (self && recipe.steps[k].op == Op::dropout) {
    for (Index m = 0; m < state.channels(); ++m) {
      for (Index p = 0; p < state.rows(); ++p) own_tangents.push_back(state.array(2 + m)(p, p));
    }
  }
  for (const Range rows : state.row_blocks()) pass(recipe, k, 0, rows, state);
  if (self) mark_equal(state);
  for (std::size_t i = 0; i < own_tangents.size(); ++i) {
    const auto m = static_cast<Index>(i) / state.rows();
    const auto p = static_cast<Index>(i) % state.rows();
    state.array(2 + m)(p, p) = own_tangents[i];
  }
}

void GraphRunner::pass(const Recipe& recipe, std::size_t k, std::size_t first, Range rows, GraphState& state) {
  const auto steps = std::span(recipe.steps).subspan(k, passing_.size());
  const bool as_one = std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end(), is_uniform);
  const Index count = as_one ? rows.size() : 1;
  for (Index row = rows.begin; row < rows.end; row += count) {
    Strip<double> strip = state.strip(row, count);
    for (std::size_t s = first; s < steps.size(); ++s) {
      const GraphSide& left = passing_[s][state.turned];
      const GraphSide& right = passing_[s][!state.turned];
      const bool followed = steps[s].op == Op::dual && s + 1 < steps.size() && follows(steps[s + 1]);
      strip.trained_begin = followed ? steps[s + 1].channel_begin : 0;
      strip.trained_end = followed ? steps[s + 1].channel_end : 0;
      apply(steps[s], FeatureSides<double>{left.features, left.place + row, false, right.features, right.place}, {},
            strip);
      s += followed ? 1 : 0;
    }
  }
}

template <typename Finish>
void GraphRunner::combine(const GraphSides& sides, GraphState& from, GraphState& to, const Finish& finish) {
  const SparseBlock& rows = sides[from.turned].places;
  const SparseBlock& cols = sides[!from.turned].places;
  to.resize(cols.rows, rows.rows, from.channels());
  to.turned = !from.turned;
  half_.resize(from.cols(), rows.rows, from.channels());
  // Blocks of 16 rows stay in the first-level cache between product and transposition.
  for (Index k = 0; k < 2 + from.channels(); ++k) {
    if (k == 1) continue;  // t follows from ρ
    for (Index row = 0; row < rows.rows; row += strip_padding) {
      const Range some{row, std::min(row + strip_padding, rows.rows)};
      const MatrixView<double> block = scratch(block_, some.size(), from.cols());
      combine_rows(rows.part(some), from.array(k), block);
      transpose(MatrixView<const double>(block), half_.array(k).block(0, row, from.cols(), some.size()));
    }
  }
  for (const Range some : to.row_blocks()) {
    const auto block = [&](Index k) { return to.array(k).block(some.begin, 0, some.size(), rows.rows); };
    combine_correlations(cols.part(some), half_.array(0), block(0), block(1));
    for (Index k = 2; k < 2 + from.channels(); ++k) combine_rows(cols.part(some), half_.array(k), block(k));
    finish(some);
  }
}

void GraphRunner::join(const Step& step, const GraphSides& sides, bool self) {
  GraphState& other = stack_[top_];
  GraphState& sum = stack_[--top_];
  if (sides.left.places.all != nullptr) {
    // The state with fewer aggregations has fewer places, or the same number.
    GraphState& coarse = sum.rows() * sum.cols() < other.rows() * other.cols() ? sum : other;
    combine(sides, coarse, spare_, [](Range) {});
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
