#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/finite/training/loss.hpp"

namespace widelimit {

/// Training problem of a machine; the caller has checked the Gram matrix.
struct DynamicsInput {
  Index samples = 0;
  MatrixView<const double> targets;
  Loss loss;
  double lambda = 0;
};

/// Throws Error{input} unless λ is finite and not negative.
void check_lambda(double lambda);
/// Throws Error{input} unless λ is finite and not negative; the targets are finite, one row per sample, and valid for
/// the loss (±1 for hinge, squared hinge and logistic; one-hot rows for softmax); and start and recording match them
/// (sizes, finite numbers, valid sample indices).
void check_dynamics(const DynamicsInput& input, const Start& start, const Recording& recording);

/// Returns a copy of `from`, or zeros of the given size if it is empty.
[[nodiscard]] Matrix<double> dense_or_zero(MatrixView<const double> from, Index rows, Index cols);

}  // namespace widelimit
