#pragma once

#include "widelimit/analysis/dynamics/flow/growing_cholesky.hpp"
#include "widelimit/kernel/gram_columns.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Least-norm subgradient λβ + Σuᵢφ(xᵢ), which determines the flow of a convex objective at kinks (Brézis 1973, Theorem
/// 3.1); here it is Filippov's sliding mode. For given g,
///
///     min over u of ½uᵀKu + λ uᵀg,   lowerᵢ ≤ uᵢ ≤ upperᵢ for samples on a kink, uᵢ the slope of their piece for
///     others.
///
/// ġ = −λg − Ku is the negative gradient: a sample with uᵢ strictly inside its bounds is stationary (slides), and one
/// at its lower (upper) bound moves down (up) or is stationary. Active-set method that updates the Cholesky factor of K
/// on the sliding samples: appending or removing a row costs O(sliding²), and each change of u costs O(n·sliding) in
/// Ku.
class LeastSubgradient {
 public:
  explicit LeastSubgradient(const GramMatrix& k);

  /// Problem data. u and product = Ku of all samples are changed in place; on entry, sliding samples keep their values
  /// and all others on a kink are at a bound.
  struct State {
    std::span<const Index> on_kink;
    std::span<const double> lower;  ///< by sample
    std::span<const double> upper;
    std::span<const double> pull;  ///< λg
    std::vector<double>& u;
    std::vector<double>& product;
  };
  /// Solves the problem; returns false if the iteration limit is exceeded, which indicates cycling.
  bool solve(const State& state);
  /// Recomputes Ku, with one refinement step for the sliding samples. O(n²).
  void refine(const State& state);

  [[nodiscard]] bool slides(Index sample) const { return slides_[usize(sample)]; }
  [[nodiscard]] Index sliding() const { return static_cast<Index>(free_.size()); }
  /// Returns the rounding error of the speed of g: |Ku| ≤ ‖φᵢ‖Σ‖φⱼ‖ for slopes within ±1. Sliding slopes can be much
  /// smaller, but were computed from terms of that size.
  [[nodiscard]] double rounding(Index sample, double pull) const;

 private:
  /// Releases `sample` from its bound until its slope vanishes or it reaches the other bound.
  void release(const State& state, Index sample);
  void move(const State& state, Index sample, double by);
  void bind(std::size_t place);

  const GramMatrix& k_;
  std::shared_ptr<GramColumns<double>> columns_;  ///< shared between copies
  GrowingCholesky factor_;
  std::vector<Index> free_;      ///< sliding samples, in the order of the factor
  std::vector<bool> slides_;     ///< per sample
  std::vector<double> lengths_;  ///< ‖φ(xᵢ)‖
  double total_ = 0;             ///< Σ ‖φ(xᵢ)‖
};

}  // namespace widelimit
