#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/chain.hpp"
#include "widelimit/certificate/geometry.hpp"
#include "widelimit/certificate/interval.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <memory>
#include <span>

namespace widelimit {

/// As CertificateProblem, for chains with biases.
struct ChainProblem {
  const Chain& chain;
  Kind kind = Kind::ntk;
  MatrixView<const double> support;
  MatrixView<const double> alpha;
  std::span<const double> bias;
  MatrixView<const double> points;
  std::span<const Functional> functionals;
  const CertifyOptions& options;
  const PointGeometry& geometry;
};

/// Kernel entries enclosed layer by layer: Σ grows with both variances and with the covariance, κ₀ with the
/// correlation, so that intervals pass through [mathematics §5].  A tenth of a microsecond for an entry and a layer.
[[nodiscard]] std::unique_ptr<LowerBound> make_chain_bound(const ChainProblem& problem);

/// All values of the kernel of a chain for ‖x‖ in `norm`, ‖x'‖ in `other` and ⟨x,x'⟩ in `inner`.
[[nodiscard]] Interval enclose_kernel(const Chain& chain, Kind kind, const Interval& norm, const Interval& other,
                                      const Interval& inner);

}  // namespace widelimit
