#include "widelimit/analysis/dynamics/flow/kinks.hpp"

namespace widelimit {

Kinks kinks_of(const Loss& loss, double y) {
  if (loss.kind == LossKind::hinge) {
    return y > 0 ? Kinks{.count = 1, .at = {1}, .slope = {-1, 0}} : Kinks{.count = 1, .at = {-1}, .slope = {0, 1}};
  }
  // ε is below the resolution of y.
  if (y - loss.epsilon == y + loss.epsilon) return {.count = 1, .at = {y}, .slope = {-1, 1}};
  return {.count = 2, .at = {y - loss.epsilon, y + loss.epsilon}, .slope = {-1, 0, 1}};
}

}  // namespace widelimit
