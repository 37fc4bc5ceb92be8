#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/machine/svm/box_problem.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// A primal-dual interior point of a box problem with K = LLᵀ, L of few columns: predictor and corrector as Mehrotra
/// (1992) has them, for the multipliers x ≥ 0 of the textbook, a = Sx with S of entries 0 and ±1 (two multipliers for a
/// coefficient that may have either sign):
///
///   minimise ½‖w‖² + ½ xᵀRx + qᵀx   where w = LᵀSx, 0 ≤ x ≤ c and, with a bias, sᵀx = 0,
///   SᵀLw + Rx + q + sb = z − v,   xᵢzᵢ = 0,   (cᵢ − xᵢ)vᵢ = 0.
///
/// With D = R + z/x + v/(c − x) a step eliminates all but dw: (I + LᵀWL − ccᵀ/β) dw = …, W = SD⁻¹Sᵀ, c = LᵀW1, β =
/// 1ᵀW1, as large as the rank and never singular (Fine and Scheinberg 2001; Ferris and Munson 2002). x is counted in
/// bounds, q in its largest entry, so that neither λ nor units matter. [docs/theory/machines.md]
class InteriorPoint {
 public:
  /// `l` has a row for each variable of the problem. Every variable has a bound or a ridge.
  InteriorPoint(const BoxProblem& problem, const Algebra& algebra, EngineMatrix l);

  /// One iteration; false where rounding allows none.  n·rank² + rank³/3 multiply-adds.
  [[nodiscard]] bool step();
  /// xᵀz + (c − x)ᵀv relative to the objective: the duality gap, once the iterates are feasible.
  [[nodiscard]] double gap() const { return gap_; }
  /// Coefficients within their bounds, Σaᵢ = 0 up to rounding. Those whose multiplier says so are at their bound.
  [[nodiscard]] std::vector<double> coefficients() const;

 private:
  /// A multiplier: which coefficient it belongs to, and how.
  struct Multiplier {
    Index sample;
    double sign;
    double cap;    ///< c, or infinity
    double cost;   ///< q
    double ridge;  ///< R
  };
  /// Where all are, or by how much they move.
  struct Point {
    std::vector<double> x, t, z, v;  ///< t = c − x
    double bias = 0;
  };

  void place_first();
  [[nodiscard]] std::vector<double> per_sample(std::span<const double> of_multipliers) const;
  [[nodiscard]] std::vector<double> pull(std::span<const double> of_samples) const;
  [[nodiscard]] std::vector<double> push(std::span<const double> features) const;
  [[nodiscard]] bool factorise();
  void look();
  /// The step to xz = tv = target, less the second-order terms of `before` where it is given.
  [[nodiscard]] Point direction(double target, const Point* before) const;
  [[nodiscard]] double room(const Point& by) const;
  [[nodiscard]] double complementarity(const Point& by, double length) const;
  [[nodiscard]] bool capped(std::size_t j) const { return multipliers_[j].cap < no_bound; }

  const BoxProblem& problem_;
  const Algebra& algebra_;
  EngineMatrix l_;
  std::vector<Multiplier> multipliers_;
  double unit_ = 1;     ///< of x
  double slope_ = 1;    ///< of q
  double factor_ = 1;   ///< of L
  Index products_ = 0;  ///< pairs of which the product becomes 0
  Point at_;
  std::vector<double> gradient_;  ///< SᵀLw + Rx + q + sb
  double surplus_ = 0;            ///< sᵀx
  double mean_ = 0;               ///< of xz and tv
  double gap_ = 0;
  std::vector<double> inverse_;  ///< D⁻¹
  std::vector<double> weights_;  ///< W
  std::vector<double> centre_;   ///< c
  double total_ = 0;             ///< β
  std::optional<EngineMatrix> system_;
};

}  // namespace widelimit
