#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <functional>
#include <vector>

/// The recursion for one pair of samples, directly from the formulas; the reference for all other back ends. Uses long
/// double throughout, whose exponent range makes scaling unnecessary. 1 ∓ ρ and the difference of variances, which
/// nearly equal and nearly opposite samples would lose to cancellation, are propagated with Σ.
/// [docs/theory/numerics.md]
namespace widelimit::reference {

using Real = long double;

/// Σ and Θ_m of a pair, for all pairs of positions (p, q) in row-major order, or for p = q only. With the variances q =
/// Σ(x,x)(p,p), q' = Σ(x',x')(q,q) and their roots r, r':
struct State {
  Index positions = 1;
  bool all_pairs = false;
  std::vector<Real> sigma;
  std::vector<Real> minus;   ///< rr' − Σ = rr'(1 − ρ) ≥ 0
  std::vector<Real> plus;    ///< rr' + Σ = rr'(1 + ρ) ≥ 0
  std::vector<Real> excess;  ///< q − q'
  std::vector<std::vector<Real>> theta;

  [[nodiscard]] Index at(Index p, Index q) const { return all_pairs ? p * positions + q : p; }
};

/// Data of one sample that a step needs.
struct Trace {
  std::vector<Real> variance;   ///< Σ(x,x) at each position before the step
  std::vector<Real> image;      ///< dual: E[φ(u)²] at each position
  std::vector<Real> beneath;    ///< join: variances of the other summand
  std::vector<Real> attention;  ///< attend: ζ(x), row-major, columns are keys
};
using Traces = std::vector<Trace>;  ///< one per step

/// Receives Σ and Θ at every emit step.
using Emit = std::function<void(const Step& step, const State& state)>;

/// The state of two inputs before the first step: Σ(p,q) = ⟨x_p, x'_q⟩/channels, Θ_m = 0; minus·plus = qq' − Σ² is
/// computed from the part of x'_q orthogonal to x_p.
[[nodiscard]] State input_state(const Recipe& recipe, const Real* x1, const Real* x2);

/// Evaluates one sample with itself, where dropout divides equal positions by its rate. Returns the traces of all
/// steps.
[[nodiscard]] Traces run_self(const Recipe& recipe, const Real* x, const Emit& emit);

/// Evaluates two samples, treated as different ones even if they are equal.
void run_pair(const Recipe& recipe, const Real* x1, const Traces& traces1, const Real* x2, const Traces& traces2,
              const Emit& emit);

}  // namespace widelimit::reference
