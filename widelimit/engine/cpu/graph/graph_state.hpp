#pragma once

#include "widelimit/engine/cpu/graph/graph_program.hpp"
#include "widelimit/engine/cpu/graph/sparse_rows.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"

#include <span>
#include <vector>

namespace widelimit::cpu {

/// What one step needs to know of the graphs on one side.
struct GraphSide {
  const Features* features = nullptr;
  Index place = 0;     ///< in the features, of the first place
  SparseBlock places;  ///< aggregate, readout, a join of states that came through different numbers of aggregations
};
/// Graphs on the left and on the right of all pairs.
struct GraphSides {
  GraphSide left, right;
  [[nodiscard]] const GraphSide& operator[](bool turned) const { return turned ? right : left; }
};

/// ρ, t and θ_m of all pairs of places of some graphs on the left with some on the right, as strips. `turned`: rows are
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
  /// Consecutive rows as one strip, which runs through the padding between them.
  [[nodiscard]] Strip<double> strip(Index row, Index count = 1) {
    double* const rho = memory_.data() + row * stride_;
    const Index size = rows_ * stride_;
    return {(count - 1) * stride_ + cols_, rho, rho + size, rho + 2 * size, size, channels_};
  }
  /// Consecutive rows that are passed on together.
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

/// Takes pairs of places through the steps of a recipe. Keeps its memory from run to run.
class GraphRunner {
 public:
  /// The state of `rows` × `cols` pairs before the first step, whose ρ and t the caller writes; θ is 0.
  GraphState& begin(const Recipe& recipe, Index rows, Index cols);
  [[nodiscard]] GraphState& top() { return stack_[top_]; }

  /// Step k and those after it that are done in the same pass; the number of steps done. `sides(k)` are the graphs at
  /// step k. `self`: graphs with themselves, whose equal places stay equal.
  template <typename SidesAt>
  std::size_t run(const Recipe& recipe, std::size_t k, bool self, const SidesAt& sides) {
    const std::size_t last = self ? k + 1 : end_of_pass(recipe, k);
    passing_.clear();
    for (std::size_t step = k; step < last; ++step) passing_.push_back(sides(step));
    run_pass(recipe, k, self);
    return last - k;
  }

 private:
  /// Consecutive steps that treat every pair of places alone go through each strip while it is in the cache, and so do
  /// those that follow an aggregation; a fork whose copy is read out at once copies nothing.
  [[nodiscard]] static std::size_t end_of_pass(const Recipe& recipe, std::size_t k);
  void run_pass(const Recipe& recipe, std::size_t k, bool self);
  void everywhere(const Recipe& recipe, std::size_t k, bool self);
  /// Some rows of a state through the steps of this pass, from the first given on.
  void pass(const Recipe& recipe, std::size_t k, std::size_t first, Range rows, GraphState& state);
  /// to = A·from·Bᵀ for ρ and θ, A and B the places of both sides; turned, since each product is over rows.
  /// `finish(rows)` when these are there.
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
