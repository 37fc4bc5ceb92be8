#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/geometry.hpp"
#include "widelimit/certificate/interval.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <memory>
#include <span>

namespace widelimit {

struct Chain;

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
  double last_bias = 0;  ///< of the last layer, which `chain` is without: its square is in every entry

  [[nodiscard]] Interval weight(const Functional& functional, Index sample) const;  ///< β
  [[nodiscard]] Interval offset(const Functional& functional) const;                ///< b + last_bias²·Σβ
};

/// Every kernel entry enclosed by itself.                                       [docs/theory/certificates.md#biases]
[[nodiscard]] std::unique_ptr<LowerBound> make_chain_bound(const ChainProblem& problem);

/// Expansions to second order, with slopes and curvatures of entries enclosed: they add up before signs are lost.
[[nodiscard]] std::unique_ptr<LowerBound> make_chain_convex_bound(const ChainProblem& problem);

}  // namespace widelimit
