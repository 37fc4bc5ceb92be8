#include "widelimit/analysis/bounds/clipped_loss.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

double ClippedLoss::lipschitz() const {
  switch (loss.kind) {
    case LossKind::squared:
    case LossKind::squared_hinge:
      return 2 * std::sqrt(clip) / unit;
    case LossKind::logistic:
      return -std::expm1(-clip) / unit;
    default:
      return 1 / unit;
  }
}

double ClippedLoss::value(double z, double y) const { return std::min(loss_value(loss, z, y), clip) / unit; }

ClippedLoss clipped_loss(const Loss& loss, double clip) {
  loss.validate();
  if (loss.kind == LossKind::softmax) {
    fail(Code::usage, "a bound needs a loss of one output; softmax has none: choose hinge, the ramp of the margin");
  }
  if (!(clip > 0) || !std::isfinite(clip)) {
    fail(Code::input, "losses cannot be clipped at {}; choose a positive number", clip);
  }
  return {.loss = loss, .clip = clip, .unit = 1};
}

ClippedLoss error_loss(const Loss& loss) {
  loss.validate();
  if (loss.kind == LossKind::insensitive && loss.epsilon >= 1) {
    fail(Code::input, "epsilon {} forgives wrong signs of ±1; a bound on errors needs less than 1", loss.epsilon);
  }
  const double none = loss.kind == LossKind::softmax ? 1.0 : loss_value(loss, 0, 1);
  ClippedLoss result = clipped_loss(loss, none);
  result.unit = none;
  return result;
}

}  // namespace widelimit
