#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/finite/training/loss.hpp"

namespace widelimit {

/// A machine to be trained: the caller has checked the Gram matrix.
struct DynamicsInput {
  Index samples = 0;
  MatrixView<const double> targets;
  Loss loss;
  double lambda = 0;
};

/// Error{input} unless λ is finite and not negative, the targets are finite, a row for each sample, and what the loss
/// takes: ±1 for hinge, squared hinge and logistic, rows of 0 with one 1 for softmax; and unless start and recording
/// fit them: sizes, finite numbers, samples that exist.
/// Error{input} unless λ is finite and not negative.
void check_lambda(double lambda);
void check_dynamics(const DynamicsInput& input, const Start& start, const Recording& recording);

/// A copy of `from`, or zeros of that size where it is empty.
[[nodiscard]] Matrix<double> dense_or_zero(MatrixView<const double> from, Index rows, Index cols);

}  // namespace widelimit
