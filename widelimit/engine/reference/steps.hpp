#pragma once

#include "widelimit/engine/reference/pair.hpp"

namespace widelimit::reference {

/// Each function updates Σ, Θ_m, rr' ∓ Σ and q − q' of all pairs of positions by one step. x1, x2: traces before it.
void affine(const Step& step, const Trace& x1, const Trace& x2, State& state);
void dual(const Recipe& recipe, const Step& step, const Trace& x1, const Trace& x2, State& state);
void window(const Step& step, const Trace& x1, const Trace& x2, State& state);
void flatten(const Trace& x1, const Trace& x2, State& state);
void layer_norm(const Trace& x1, const Trace& x2, State& state);
/// Divides by the rate only the variance of a sample at one position; cross-covariances are unchanged.
void dropout(const Step& step, bool self, const Trace& x1, const Trace& x2, State& state);
/// Adds `other`; drops pairs of positions that only one of the two holds.
void join(const Trace& x1, const Trace& x2, State& state, const State& other);

/// Steps that mix covariances of different positions, for which no complements rr' ∓ Σ are available. They set rr' ∓ Σ
/// to upper bounds: for the same window of two samples, E[(U ∓ V)²] ≤ (Σ√E[(u ∓ v)²])² (triangle inequality) bounds
/// twice the complement.
void pool(const Step& step, const Trace& x1, const Trace& x2, State& state);
void attend(const Trace& x1, const Trace& x2, State& state);
/// Sets rr' ∓ Σ, within these bounds, and q − q' to differences of the traces after the step; accurate to an ulp of rr'
/// in long double.
void complements_of_covariances(const Trace& x1, const Trace& x2, State& state);
/// ζ(p, ·) = softmax over keys of Σ(x,x)(p, ·).
[[nodiscard]] std::vector<Real> attention_weights(const State& self);

}  // namespace widelimit::reference
