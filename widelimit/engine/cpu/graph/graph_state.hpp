#pragma once

#include "widelimit/engine/cpu/graph/graph_program.hpp"
#include "widelimit/engine/cpu/graph/sparse_rows.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"

#include <span>
#include <vector>

namespace widelimit::cpu {

/// Data of the graphs on one side that one step needs.
struct GraphSide {
  const Features* features = nullptr;
  Index place = 0;     ///< index of the first place in the features
  SparseBlock places;  ///< for aggregate, readout, and joins of states with different numbers of aggregations
};
/// Graphs on the left and right side of all pairs.
struct GraphSides {
  GraphSide left, right;
  [[nodiscard]] const GraphSide& operator[](bool turned) const { return turned ? right : left; }
};

/// ρ, t and θ_m of all pairs of places of graphs on the left and graphs on the right, as strips. `turned`: rows are
/// places on the right.
class GraphState {
 public:
  void resize(Index rows, Index cols, Index channels);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index channels() const { return channels_; }
  /// 0: ρ, 1: t, 2 + m: θ_m.
  [[nodiscard]] MatrixView<double> array(Index k) {
    return {memory_.data() + k * rows_ * stride_, rows_, cols_, stride_};
  }
  /// Returns consecutive rows as one strip, including the padding between them.
  [[nodiscard]] Strip<double> strip(Index row, Index count = 1) {
    double* const rho = memory_.data() + row * stride_;
    const Index size = rows_ * stride_;
    return {(count - 1) * stride_ + cols_, rho, rho + size, rho + 2 * size, size, channels_};
  }
  /// Returns blocks of consecutive rows that are processed together.
  [[nodiscard]] std::vector<Range> row_blocks() const;
  void copy(GraphState& from);

  bool turned = false;

 private:
  Matrix<double> memory_;
  Index rows_ = 0;
  Index cols_ = 0;
  Index stride_ = 0;
  Index channels_ = 0;
};

/// Applies the steps of a recipe to pairs of places. Keeps its memory between runs.
class GraphRunner {
 public:
  /// Returns the state of `rows` × `cols` pairs before the first step; the caller writes ρ and t, θ is 0.
  GraphState& begin(const Recipe& recipe, Index rows, Index cols);
  [[nodiscard]] GraphState& top() { return stack_[top_]; }

  /// Runs step k and the steps fused with it; returns their number. `sides(k)` returns the graphs at step k. `self`:
  /// graphs paired with themselves, whose equal places stay equal.
  template <typename SidesAt>
  std::size_t run(const Recipe& recipe, std::size_t k, bool self, const SidesAt& sides) {
    const std::size_t last = self ? k + 1 : end_of_pass(recipe, k);
    passing_.clear();
    for (std::size_t step = k; step < last; ++step) passing_.push_back(sides(step));
    run_pass(recipe, k, self);
    return last - k;
  }

 private:
  /// Consecutive pointwise steps are applied to each strip while it is in cache, also after an aggregation; a fork
  /// whose copy is read out immediately copies nothing.
  [[nodiscard]] static std::size_t end_of_pass(const Recipe& recipe, std::size_t k);
  void run_pass(const Recipe& recipe, std::size_t k, bool self);
  void everywhere(const Recipe& recipe, std::size_t k, bool self);
  /// Applies the steps of this pass, from `first` on, to some rows of a state.
  void pass(const Recipe& recipe, std::size_t k, std::size_t first, Range rows, GraphState& state);
  /// to = A·from·Bᵀ for ρ and θ, with A and B the places of both sides; the result is transposed, since each product is
  /// over rows. Calls `finish(rows)` when rows are complete.
  template <typename Finish>
  void combine(const GraphSides& sides, GraphState& from, GraphState& to, const Finish& finish);
  void join(const Step& step, const GraphSides& sides, bool self);

  std::vector<GraphState> stack_;
  std::size_t top_ = 0;
  GraphState spare_;
  GraphState half_;  ///< (A·from)ᵀ
  Matrix<double> block_;
  std::vector<GraphSides> passing_;
};

}  // namespace widelimit::cpu
