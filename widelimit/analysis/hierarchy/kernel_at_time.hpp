#pragma once

#include "widelimit/finite/training/trained_network.hpp"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

struct KernelAtTimeOptions {
  /// Time of the gradient flow on Σ(y − f)², as in training; ≥ 0, infinity means the limit. LA's time, for Σ(y −
  /// f)²/(2n), is 2n times this.
  double time = std::numeric_limits<double>::infinity();
  bool trained = false;     ///< also train by gradient flow to that time for comparison; finite times only
  double tolerance = 1e-6;  ///< tolerance of that training: error of an output per step
  Progress* progress = nullptr;

  /// Throws Error{usage} if a value is out of range.
  void validate() const;
};

/// K̂_t and its terms, points × samples.
struct TimedKernel {
  Matrix<double> values;   ///< sum of the three terms below
  Matrix<double> start;    ///< K₀, the empirical NTK at initialisation
  Matrix<double> first;    ///< ⟨K⁽³⁾, ∫r⟩
  Matrix<double> second;   ///< ∫∫ rᵀK⁽⁴⁾r
  Matrix<double> trained;  ///< empirical NTK of the trained network; empty unless requested
};

struct KernelAtTime {
  TimedKernel train;
  std::optional<TimedKernel> test;   ///< test × train
  std::vector<std::string> remarks;  ///< remarks on kinks and rank deficiency
  double seconds = 0;
};

/// Computes the tangent kernel of a network of any architecture at a time of its gradient flow, to second order of the
/// neural tangent hierarchy (LA (4)), from its initial weights w₀ alone:
///
///     K̂_t = K₀ + ⟨K⁽³⁾, α⟩ + Σ_ij M_ij K⁽⁴⁾(·,·,i,j),   α, M of LabelWeights for K₀ and r₀ = y − f₀ at 2t.
///
/// With X = Σ α_i∇f_i and Y = Σ_ij M_ij (∇f_j·∇)∇f_i, the weights are w₀ + X + Y to second order, and
/// K̂_t = K₀ + κ'(0) + κ''(0)/2 for κ(ε) = Θ̂(w₀ + εX + ε²Y): five empirical NTKs, and two gradients per singular value
/// of M above rounding. [docs/theory/tangent-hierarchy.md]
/// The network must have one output; its summary, final weights and λ are ignored. Centred networks have f₀ = 0.
[[nodiscard]] KernelAtTime kernel_at_time(const TrainedNetwork& network, const SampleView& x, std::span<const double> y,
                                          const std::optional<SampleView>& test, const KernelAtTimeOptions& options,
                                          const Engine& engine = all_processors());

}  // namespace widelimit
