#include "widelimit/analysis/dynamics/stable_step.hpp"

#include "widelimit/machine/gram/extremes.hpp"

#include <algorithm>

namespace widelimit {

double objective_curvature(const GramMatrix& k, LossKind kind, double lambda, Progress* progress) {
  const std::optional<double> curvature = largest_curvature(kind);
  return curvature ? lambda + *curvature * std::max(lanczos_extremes(k, progress).largest, 0.0) : lambda;
}

}  // namespace widelimit
