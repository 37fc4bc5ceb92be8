#include "widelimit/analysis/loss_targets.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

namespace {

bool learns_signs(LossKind loss) {
  return loss == LossKind::hinge || loss == LossKind::squared_hinge || loss == LossKind::logistic;
}

}  // namespace

Matrix<double> loss_targets(LossKind loss, std::span<const Index> labels, Index classes) {
  const bool one_column = classes == 2 && loss != LossKind::softmax;
  const double other = one_column || learns_signs(loss) ? -1.0 : 0.0;
  Matrix<double> targets(std::ssize(labels), one_column ? 1 : classes);
  for (Index i = 0; i < targets.rows(); ++i) {
    const Index label = labels[static_cast<std::size_t>(i)];
    if (label < 0 || label >= classes)
      fail(Code::input, "label {} of sample {}; there are {} classes", label, i, classes);
    for (Index c = 0; c < targets.cols(); ++c) targets(i, c) = label == (one_column ? 1 : c) ? 1.0 : other;
  }
  return targets;
}

Scheme loss_scheme(LossKind loss, Index classes) {
  if (loss == LossKind::softmax) return Scheme::softmax;
  if (classes == 2) return Scheme::sign;
  return learns_signs(loss) ? Scheme::one_vs_rest : Scheme::one_hot;
}

}  // namespace widelimit
