#include "widelimit/analysis/stable_step.hpp"

#include "widelimit/machine/extremes.hpp"

#include <algorithm>

namespace widelimit {

std::optional<double> largest_curvature(LossKind kind) {
  switch (kind) {
    case LossKind::squared:
    case LossKind::squared_hinge:
      return 2.0;
    case LossKind::logistic:
      return 0.25;
    case LossKind::softmax:
      return 0.5;
    case LossKind::hinge:
    case LossKind::insensitive:
      break;
  }
  return std::nullopt;
}

double objective_curvature(const AnyView& k, LossKind kind, double lambda) {
  const std::optional<double> curvature = largest_curvature(kind);
  return curvature ? lambda + *curvature * std::max(lanczos_extremes(k).largest, 0.0) : lambda;
}

}  // namespace widelimit
