#pragma once

#include "widelimit/analysis/dynamics/flow/growing_cholesky.hpp"
#include "widelimit/kernel/gram_columns.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// The slope that a flow of a convex objective follows where losses have kinks: of all subgradients λβ + Σuᵢφ(xᵢ) the
/// shortest (Brézis 1973, Theorem 3.1), which is Filippov's sliding here. With g given,
///
///     min over u of ½uᵀKu + λ uᵀg,   lowerᵢ ≤ uᵢ ≤ upperᵢ for samples on a kink, uᵢ the slope of their piece for
///     others.
///
/// ġ = −λg − Ku is the negative gradient, so a sample whose uᵢ is inside its bounds stands still (slides), and one at
/// its lower (upper) bound moves down (up), or stands. An active-set method that keeps the factor of K on the sliding
/// samples: rows come and go in O(sliding²), and each change costs O(n·sliding) in Ku.
class LeastSubgradient {
 public:
  explicit LeastSubgradient(const GramMatrix& k);

  /// One problem. u and product = Ku of all samples are changed in place; on entry those that slide are where they
  /// were, all others on a kink at a bound.
  struct State {
    std::span<const Index> on_kink;
    std::span<const double> lower;  ///< by sample
    std::span<const double> upper;
    std::span<const double> pull;  ///< λg
    std::vector<double>& u;
    std::vector<double>& product;
  };
  /// False where it needs more steps than there could be without cycling.
  bool solve(const State& state);
  /// Recomputes Ku, with one step of refinement for the sliding samples.  O(n²).
  void refine(const State& state);

  [[nodiscard]] bool slides(Index sample) const { return position_[static_cast<std::size_t>(sample)] >= 0; }
  [[nodiscard]] Index sliding() const { return static_cast<Index>(free_.size()); }
  /// Speeds of g below this are rounding: |Ku| ≤ ‖φᵢ‖Σ‖φⱼ‖ while no slope is beyond ±1, and sliding ones, though
  /// perhaps much smaller, were found beside slopes as large.
  [[nodiscard]] double rounding(Index sample, double pull) const;

 private:
  /// Lets `sample` go from its bound until its slope vanishes or something else stops it.
  void release(const State& state, Index sample);
  void move(const State& state, Index sample, double by);
  void bind(std::size_t place);

  const GramMatrix& k_;
  std::shared_ptr<GramColumns<double>> columns_;  ///< shared by copies
  GrowingCholesky factor_;
  std::vector<Index> free_;      ///< samples that slide, in the order of the factor
  std::vector<Index> position_;  ///< by sample: 0 where it slides, −1 else
  std::vector<double> lengths_;  ///< ‖φ(xᵢ)‖
  double total_ = 0;             ///< Σ ‖φ(xᵢ)‖
};

}  // namespace widelimit
