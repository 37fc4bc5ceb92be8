#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <functional>

namespace widelimit {

/// Returns M = λ + l''·λ_max(K), the largest curvature of the objective in β; only λ for a loss with kinks, for which
/// descent with a constant step converges only to a neighbourhood of the optimum. Descent diverges for step sizes above
/// 2/M and decreases the objective in each step below. Costs 100 products with K; `progress` can stop it between
/// products.
[[nodiscard]] double objective_curvature(const GramMatrix& k, LossKind kind, double lambda,
                                         Progress* progress = nullptr);

/// Initial and optimal objective of a convergence rate.
struct RateEnds {
  double first = 0;               ///< L(β₀)
  std::optional<double> optimum;  ///< L(β*); not needed if the bound is always 1
  double uncertainty = 0;         ///< of the objectives, in addition to rounding
  bool outside = false;           ///< the start has a part outside the span, whose contribution to L cancels in the
                                  ///< inequality
};

/// Checks L(β_t) − L(β*) ≤ bound(t)·(L(β₀) − L(β*)) at all recorded times. For a start outside the span, λ/2‖h‖²
/// appears on both sides with the factor e^{−2λt} and is omitted; the ratio is then unknown.
[[nodiscard]] RateCheck check_rate(const Trajectory& trajectory, const RateEnds& ends,
                                   const std::function<double(double time)>& bound);

}  // namespace widelimit
