#include "widelimit/analysis/dynamics/loss_scheme.hpp"

namespace widelimit {

Scheme loss_scheme(LossKind loss, Index classes) {
  if (loss == LossKind::softmax) return Scheme::softmax;
  if (classes == 2) return Scheme::sign;
  return has_margin(loss) ? Scheme::one_vs_rest : Scheme::one_hot;
}

}  // namespace widelimit
