#pragma once

#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <memory>
#include <span>
#include <vector>

namespace widelimit {

struct Chain;

/// A functional of a chain with biases: f = 2^exponent·(s·Σᵢ betaᵢ·otherᵢ·valueᵢ + offset), entries s·otherᵢ·valueᵢ
/// with deviations in units of their own.
struct ChainWeights {
  std::vector<double> beta;  ///< off by a rounding; 0 for samples without entries
  Interval offset;           ///< b + last_bias²·Σβ
  int exponent = 0;
};

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
  const Engine& engine;
  const PointGeometry& geometry;
  double last_bias = 0;      ///< of the last layer, which `chain` is without: its square is in every entry
  EntryExponents exponents;  ///< what rows were divided by

  [[nodiscard]] int row_exponent(Index sample) const {
    return exponents.sample.empty() ? 0 : exponents.sample[usize(sample)];
  }
};

/// What all functionals of a problem share: units of deviations after the last layer, √q of points and of samples.
class ChainFunctionals {
 public:
  explicit ChainFunctionals(const ChainProblem& problem);
  [[nodiscard]] const ChainWeights& of(const Functional& functional) const { return weights_.of(functional); }
  [[nodiscard]] const EntryExponents& deviations() const { return deviations_; }

 private:
  EntryExponents deviations_;
  ByOutputs<ChainWeights> weights_;
};

/// Every kernel entry enclosed by itself.                                 [docs/theory/certificates-proof.md#biases]
[[nodiscard]] std::unique_ptr<LowerBound> make_chain_bound(const ChainProblem& problem);

/// Expansions to second order, with slopes and curvatures of entries enclosed: they add up before signs are lost.
[[nodiscard]] std::unique_ptr<LowerBound> make_chain_convex_bound(const ChainProblem& problem);

}  // namespace widelimit
