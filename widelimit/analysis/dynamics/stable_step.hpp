#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// Returns M = λ + l''·λ_max(K), the largest curvature of the objective in β; only λ for a loss with kinks, for which
/// descent with a constant step converges only to a neighbourhood of the optimum. Descent diverges for step sizes above
/// 2/M and decreases the objective in each step below. Costs 100 products with K; `progress` can stop it between
/// products.
[[nodiscard]] double objective_curvature(const GramMatrix& k, LossKind kind, double lambda,
                                         Progress* progress = nullptr);

}  // namespace widelimit
