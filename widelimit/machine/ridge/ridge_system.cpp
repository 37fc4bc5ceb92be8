#include "widelimit/machine/ridge/ridge_system.hpp"

#include <cmath>

namespace widelimit {

namespace {

double border(const Matrix<double>& solved, std::span<const double> scale, Index output) {
  double above = 0;
  double below = 0;
  for (Index i = 0; i < solved.rows(); ++i) {
    above += factor_at(scale, i) * solved(i, output);
    below += factor_at(scale, i) * solved(i, solved.cols() - 1);
  }
  return below != 0 ? above / below : 0.0;
}

}  // namespace

std::vector<double> scale_of_weights(std::span<const double> weights, double lambda) {
  std::vector<double> result(weights.begin(), weights.end());
  for (double& value : result) value = lambda == 0 && value > 0 ? 1.0 : std::sqrt(value);
  return result;
}

Matrix<double> right_hand_sides(MatrixView<const double> targets, std::span<const double> scale, bool bias) {
  const Index outputs = targets.cols;
  Matrix<double> b(targets.rows, outputs + (bias ? 1 : 0), Content::unset);
  for (Index i = 0; i < targets.rows; ++i) {
    for (Index j = 0; j < outputs; ++j) b(i, j) = factor_at(scale, i) * targets(i, j);
    if (bias) b(i, outputs) = factor_at(scale, i);
  }
  return b;
}

void set_coefficients(const Matrix<double>& solved, std::span<const double> scale, bool bias, Fit& fit) {
  for (Index j = 0; j < fit.alpha.cols(); ++j) {
    const double b = bias ? border(solved, scale, j) : 0.0;
    fit.bias[static_cast<std::size_t>(j)] = b;
    for (Index i = 0; i < solved.rows(); ++i) {
      fit.alpha(i, j) = factor_at(scale, i) * (solved(i, j) - (bias ? b * solved(i, solved.cols() - 1) : 0.0));
    }
  }
}

}  // namespace widelimit
