#pragma once

#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <span>

namespace widelimit {

struct ConeOutputs {
  MatrixView<const double> alpha;  ///< support × outputs
  std::span<const double> bias;
};

/// Returns the outputs of a machine at the points of `geometry`, points × outputs, from precomputed inner products. If
/// a point is nearly parallel to a training sample, 1 − |u| is computed from their difference, as in the back ends.
/// `points` and the support of `geometry` are scaled by `exponents`.
[[nodiscard]] Matrix<double> cone_decisions(const ConeKernel& kernel, const ConeOutputs& machine,
                                            const PointGeometry& geometry, MatrixView<const double> points,
                                            const EntryExponents& exponents, const Engine& engine);

}  // namespace widelimit
