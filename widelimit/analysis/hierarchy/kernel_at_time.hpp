#pragma once

#include "widelimit/finite/training/trained_network.hpp"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

struct KernelAtTimeOptions {
  /// Of the gradient flow on Σ(y − f)², as in training; ≥ 0, infinity is its end. LA's time, on Σ(y − f)²/(2n), is 2n
  /// times this.
  double time = std::numeric_limits<double>::infinity();
  bool trained = false;     ///< train by gradient flow to that time as well, for comparison; finite times only
  double tolerance = 1e-6;  ///< of that training: error of an output in one step
  Progress* progress = nullptr;

  /// Error{usage} where a number is out of range.
  void validate() const;
};

/// K̂_t and what it is made of, points × samples.
struct TimedKernel {
  Matrix<double> values;   ///< the sum of the three below
  Matrix<double> start;    ///< K₀, the empirical NTK before training
  Matrix<double> first;    ///< ⟨K⁽³⁾, ∫r⟩
  Matrix<double> second;   ///< ∫∫ rᵀK⁽⁴⁾r
  Matrix<double> trained;  ///< the empirical NTK of the trained network; empty unless asked for
};

struct KernelAtTime {
  TimedKernel train;
  std::optional<TimedKernel> test;   ///< test × train
  std::vector<std::string> remarks;  ///< what a reader should know: kinks, missing rank
  double seconds = 0;
};

/// The tangent kernel of a network of any architecture at a time of its training by gradient flow, to second order of
/// the neural tangent hierarchy (LA (4)), from its initial weights w₀ alone:
///
///     K̂_t = K₀ + ⟨K⁽³⁾, α⟩ + Σ_ij M_ij K⁽⁴⁾(·,·,i,j),   α, M of LabelWeights for K₀ and r₀ = y − f₀ at 2t.
///
/// With X = Σ α_i∇f_i and Y = Σ_ij M_ij (∇f_j·∇)∇f_i, the weights move as w₀ + X + Y to second order, and
/// K̂_t = K₀ + κ'(0) + κ''(0)/2 of κ(ε) = Θ̂(w₀ + εX + ε²Y): five empirical NTKs, and two gradients for each singular
/// value of M that counts.                                                     [docs/theory/tangent-hierarchy.md]
/// The network has one output; its summary, weights at the end and λ are not read. Centred networks have f₀ = 0.
[[nodiscard]] KernelAtTime kernel_at_time(const TrainedNetwork& network, const SampleView& x, std::span<const double> y,
                                          const std::optional<SampleView>& test, const KernelAtTimeOptions& options,
                                          const Engine& engine = all_processors());

}  // namespace widelimit
