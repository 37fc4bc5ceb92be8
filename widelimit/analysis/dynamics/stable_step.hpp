#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// M = λ + l''·λ_max(K), the largest curvature of the objective in β; λ alone for a loss with kinks, which descent with
/// any fixed step then only approaches up to that step. Descent diverges beyond the step 2/M, and falls by each step
/// below it.  100 products with K, between which `progress` may stop it.
[[nodiscard]] double objective_curvature(const GramMatrix& k, LossKind kind, double lambda,
                                         Progress* progress = nullptr);

}  // namespace widelimit
