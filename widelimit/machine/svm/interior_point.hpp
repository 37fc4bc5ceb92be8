#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/machine/svm/box_problem.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Primal-dual interior point method for a box problem with K = LLᵀ of low rank: Mehrotra's predictor–corrector (1992)
/// in nonnegative multipliers x ≥ 0, a = Sx with entries 0 and ±1 in S (two multipliers for a coefficient of either
/// sign):
///
///   minimise ½‖w‖² + ½ xᵀRx + qᵀx   subject to w = LᵀSx, 0 ≤ x ≤ c and, with a bias, sᵀx = 0,
///   SᵀLw + Rx + q + sb = z − v,   xᵢzᵢ = 0,   (cᵢ − xᵢ)vᵢ = 0.
///
/// With D = R + z/x + v/(c − x) a step eliminates all but dw: (I + LᵀWL − ccᵀ/β) dw = …, W = SD⁻¹Sᵀ, c = LᵀW1,
/// β = 1ᵀW1, of the size of the rank and never singular (Fine and Scheinberg 2001; Ferris and Munson 2002). x is scaled
/// by the largest bound and q by its largest entry, so that neither λ nor units matter. [docs/theory/machines.md]
class InteriorPoint {
 public:
  /// `l` has one row per variable of the problem. Every variable must have a bound or a ridge.
  InteriorPoint(const BoxProblem& problem, const Algebra& algebra, EngineMatrix l);

  /// Performs one iteration; returns false if rounding prevents it. n·rank² + rank³/3 multiply-adds.
  [[nodiscard]] bool step();
  /// Returns xᵀz + (c − x)ᵀv relative to the objective: the duality gap once the iterates are feasible.
  [[nodiscard]] double gap() const { return gap_; }
  /// Returns coefficients within their bounds, with Σaᵢ = 0 up to rounding. A coefficient is set to a bound if its
  /// multipliers indicate so.
  [[nodiscard]] std::vector<double> coefficients() const;

 private:
  /// A multiplier and the coefficient it belongs to.
  struct Multiplier {
    Index sample;
    double sign;
    double cap;    ///< c, or infinity
    double cost;   ///< q
    double ridge;  ///< R
  };
  /// An iterate, or a step.
  struct Point {
    std::vector<double> x, t, z, v;  ///< t = c − x
    double bias = 0;
  };

  void place_first();
  [[nodiscard]] std::vector<double> per_sample(std::span<const double> of_multipliers) const;
  [[nodiscard]] std::vector<double> pull(std::span<const double> of_samples) const;
  [[nodiscard]] std::vector<double> push(std::span<const double> features) const;
  [[nodiscard]] bool factorise();
  void update_derived();
  /// Returns the step to xz = tv = target, with the second-order correction of `before` if given.
  [[nodiscard]] Point direction(double target, const Point* before) const;
  [[nodiscard]] double feasible_step(const Point& by) const;
  [[nodiscard]] double complementarity(const Point& by, double length) const;
  [[nodiscard]] bool capped(std::size_t j) const { return multipliers_[j].cap < no_bound; }

  const BoxProblem& problem_;
  const Algebra& algebra_;
  EngineMatrix l_;
  std::vector<Multiplier> multipliers_;
  double unit_ = 1;     ///< scale of x
  double slope_ = 1;    ///< scale of q
  double factor_ = 1;   ///< scale of L
  Index products_ = 0;  ///< number of complementarity pairs
  Point at_;
  std::vector<double> gradient_;  ///< SᵀLw + Rx + q + sb
  double surplus_ = 0;            ///< sᵀx
  double mean_ = 0;               ///< mean of xz and tv
  double gap_ = 0;
  std::vector<double> inverse_;  ///< D⁻¹
  std::vector<double> weights_;  ///< W
  std::vector<double> centre_;   ///< c
  double total_ = 0;             ///< β
  std::optional<EngineMatrix> system_;
};

}  // namespace widelimit
