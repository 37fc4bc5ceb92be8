#pragma once

#include "widelimit/finite/training/trained_network.hpp"

namespace widelimit {

/// Kernelised similarity of He and Su (2020): the change of the output at each point after one step of stochastic
/// gradient descent on a sample, per learning rate and residual,
///
///     S(x_i, p_j) = (f(p_j; w + η∇f(x_i)) − f(p_j; w))/η,   samples × points,
///
/// where η is the product of rate and residual. It tends to the empirical NTK as η → 0; the relative change is
/// |S(x, p)|/|S(x, x)|. One pass over all points per sample. `start`: use the initial weights. Throws Error{usage} for
/// several outputs and unless η > 0; Error{numerical} if a step overflows.
[[nodiscard]] Matrix<double> step_kernel(const TrainedNetwork& network, bool start, const SampleView& x,
                                         const SampleView& points, double rate, const Engine& engine = all_processors(),
                                         Progress* progress = nullptr);

}  // namespace widelimit
