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

/// Outputs of a machine at the points of `geometry`, from inner products that are there already: points × outputs.
/// Where a point is nearly parallel to a training sample, 1 − |u| is taken from their difference, as back ends do.
/// `points` and the support of `geometry` are scaled by `exponents`.
[[nodiscard]] Matrix<double> cone_decisions(const ConeKernel& kernel, const ConeOutputs& machine,
                                            const PointGeometry& geometry, MatrixView<const double> points,
                                            const EntryExponents& exponents, const Engine& engine);

}  // namespace widelimit
