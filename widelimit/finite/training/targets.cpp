#include "widelimit/finite/training/targets.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

Index place_of_largest(const double* row, Index count) { return std::max_element(row, row + count) - row; }

/// Returns whether targets represent classes: ±1 for one output, or rows with one 1 and equal smaller numbers.
bool name_classes(MatrixView<const double> targets) {
  for (Index i = 0; i < targets.rows; ++i) {
    const double* row = targets.row(i);
    if (targets.cols == 1) {
      if (std::fabs(row[0]) != 1) return false;
      continue;
    }
    const double rest = *std::min_element(row, row + targets.cols);
    if (std::count(row, row + targets.cols, 1.0) != 1 ||
        std::count(row, row + targets.cols, rest) != targets.cols - 1) {
      return false;
    }
  }
  return targets.rows > 0;
}

}  // namespace

Matrix<double> class_targets(std::span<const Index> labels, Index classes, const Loss& loss) {
  if (classes < 2) fail(Code::input, "all samples are of one class; a classifier needs two");
  const bool single = classes == 2 && loss.kind != LossKind::softmax;
  const double other = has_margin(loss.kind) ? -1.0 : 0.0;
  Matrix<double> targets(std::ssize(labels), single ? 1 : classes);
  for (Index i = 0; i < targets.rows(); ++i) {
    const Index label = labels[static_cast<std::size_t>(i)];
    if (label < 0 || label >= classes)
      fail(Code::input, "label {} of sample {} is none of {} classes", label, i, classes);
    if (single) {
      targets(i, 0) = label == 0 ? -1.0 : 1.0;
      continue;
    }
    for (Index c = 0; c < classes; ++c) targets(i, c) = c == label ? 1.0 : other;
  }
  return targets;
}

void require_targets(MatrixView<const double> targets, const Loss& loss) {
  for (Index i = 0; i < targets.rows; ++i) {
    double sum = 0;
    for (Index c = 0; c < targets.cols; ++c) {
      const double y = targets(i, c);
      if (!std::isfinite(y)) fail(Code::input, "target {} of sample {} is not finite", c, i);
      if (has_margin(loss.kind) && std::fabs(y) != 1) {
        fail(Code::input, "target {} of sample {} is {}; the {} loss takes -1 and 1", c, i, y, to_string(loss.kind));
      }
      if (loss.kind == LossKind::softmax && y != 0 && y != 1) {
        fail(Code::input, "target {} of sample {} is {}; the softmax loss takes 0 and 1", c, i, y);
      }
      sum += y;
    }
    if (loss.kind == LossKind::softmax && sum != 1) {
      fail(Code::input, "sample {} has {} classes instead of one", i, sum);
    }
  }
}

std::optional<double> accuracy_of(MatrixView<const double> outputs, MatrixView<const double> targets) {
  if (!name_classes(targets)) return std::nullopt;
  Index right = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    const bool agree = targets.cols == 1 ? (outputs(i, 0) > 0) == (targets(i, 0) > 0)
                                         : place_of_largest(outputs.row(i), targets.cols) ==
                                               place_of_largest(targets.row(i), targets.cols);
    right += agree ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(targets.rows);
}

}  // namespace widelimit
