#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <functional>
#include <vector>

/// The recursion of one pair of samples, by the formulas and nothing else: the oracle. All in long double, whose range
/// makes scaling a matter of the fast back ends only. What nearly equal and nearly opposite samples would lose to
/// cancellation, 1 ∓ ρ and the difference of variances, is carried beside Σ.             [docs/theory/numerics.md]
namespace widelimit::reference {

using Real = long double;

/// Σ and Θ_m of a pair. Position pairs (p, q) in row-major order, or the positions p = q alone. With the variances
/// q = Σ(x,x)(p,p), q' = Σ(x',x')(q,q) and their roots r, r':
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

/// What a step needs to know of one sample alone.
struct Trace {
  std::vector<Real> variance;   ///< Σ(x,x) at each position before the step
  std::vector<Real> image;      ///< dual: E[φ(u)²] at each position
  std::vector<Real> beneath;    ///< join: the variances of the other summand
  std::vector<Real> attention;  ///< attend: ζ(x), rows of keys
};
using Traces = std::vector<Trace>;  ///< one for each step

/// Receives Σ and Θ at every emit step.
using Emit = std::function<void(const Step& step, const State& state)>;

/// The state of two inputs before the first step: Σ(p,q) = ⟨x_p, x'_q⟩/channels, Θ_m = 0; minus·plus = qq' − Σ² from
/// the part of x'_q that is orthogonal to x_p.
[[nodiscard]] State input_state(const Recipe& recipe, const Real* x1, const Real* x2);

/// One sample with itself: dropout divides equal positions by its rate; the variances of every step are returned.
[[nodiscard]] Traces run_self(const Recipe& recipe, const Real* x, const Emit& emit);

/// Two samples, as different ones.
void run_pair(const Recipe& recipe, const Real* x1, const Traces& traces1, const Real* x2, const Traces& traces2,
              const Emit& emit);

}  // namespace widelimit::reference
