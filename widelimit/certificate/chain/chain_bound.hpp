#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <memory>
#include <span>
#include <vector>

namespace widelimit {

struct Chain;

/// A functional of a chain with biases: f = 2^exponent·(s·Σᵢ betaᵢ·otherᵢ·valueᵢ + offset). Kernel entries are
/// s·otherᵢ·valueᵢ, with separately scaled deviations.
struct ChainWeights {
  std::vector<double> beta;  ///< accurate to one rounding; 0 for samples without entries
  Interval offset;           ///< b + last_bias²·Σβ
  int exponent = 0;
};

/// The counterpart of CertificateProblem for chains with biases.
struct ChainProblem {
  const Chain& chain;
  Kind kind = Kind::ntk;
  MatrixView<const double> support;
  MatrixView<const double> alpha;
  std::span<const double> bias;
  MatrixView<const double> points;
  std::span<const Functional> functionals;
  const CertifyOptions& options;
  const Engine& engine;
  const PointGeometry& geometry;
  double last_bias = 0;      ///< bias of the last layer, omitted from `chain`; its square is added to every entry
  EntryExponents exponents;  ///< scale exponents of points and support rows

  [[nodiscard]] int row_exponent(Index sample) const {
    return exponents.sample.empty() ? 0 : exponents.sample[usize(sample)];
  }
};

/// Data shared by all functionals of a problem: the scale exponents of √q of points and samples after the last layer.
class ChainFunctionals {
 public:
  explicit ChainFunctionals(const ChainProblem& problem);
  [[nodiscard]] const ChainWeights& of(const Functional& functional) const { return weights_.of(functional); }
  [[nodiscard]] const EntryExponents& deviations() const { return deviations_; }

 private:
  EntryExponents deviations_;
  ByOutputs<ChainWeights> weights_;
};

/// Bound that encloses each kernel entry separately.                      [docs/theory/certificates-proof.md#biases]
[[nodiscard]] std::unique_ptr<LowerBound> make_chain_bound(const ChainProblem& problem);

/// Second-order bound with enclosed slopes and curvatures of entries: gradients of all samples are summed before
/// bounding.
[[nodiscard]] std::unique_ptr<LowerBound> make_chain_convex_bound(const ChainProblem& problem);

}  // namespace widelimit
