#include "widelimit/machine/ridge/prediction_error.hpp"

#include <algorithm>

namespace widelimit {

namespace {

Index largest(const double* row, Index count) { return std::max_element(row, row + count) - row; }

/// Whether the targets are class indicators. With several columns, the first row defines the two values.
bool names_classes(MatrixView<const double> targets) {
  const Index count = targets.cols;
  const auto one = [&](Index i) { return largest(targets.row(i), count); };
  const double high = count == 1 ? 1.0 : targets(0, one(0));
  const double low = count == 1 ? -1.0 : targets(0, one(0) == 0 ? 1 : 0);
  for (Index i = 0; i < targets.rows; ++i) {
    const double* row = targets.row(i);
    const auto others = std::count(row, row + count, low);
    const auto ones = std::count(row, row + count, high);
    if (high == low || others + ones != count || (count > 1 && ones != 1)) return false;
  }
  return true;
}

bool missed(const double* target, const double* prediction, Index count) {
  if (count == 1) return !(target[0] * prediction[0] > 0);
  return largest(target, count) != largest(prediction, count);
}

}  // namespace

double mean_squared_error(MatrixView<const double> targets, MatrixView<const double> predictions,
                          std::span<const double> weights) {
  double sum = 0;
  double total = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    total += factor_at(weights, i);
    for (Index j = 0; j < targets.cols; ++j) {
      const double missing = targets(i, j) - predictions(i, j);
      sum += factor_at(weights, i) * missing * missing;
    }
  }
  return sum / total;
}

std::optional<double> misclassified(MatrixView<const double> targets, MatrixView<const double> predictions,
                                    std::span<const double> weights) {
  if (targets.rows == 0 || !names_classes(targets)) return std::nullopt;
  double sum = 0;
  double total = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    total += factor_at(weights, i);
    if (missed(targets.row(i), predictions.row(i), targets.cols)) sum += factor_at(weights, i);
  }
  return sum / total;
}

}  // namespace widelimit
