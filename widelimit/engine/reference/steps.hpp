#pragma once

#include "widelimit/engine/reference/pair.hpp"

namespace widelimit::reference {

/// Each takes Σ, Θ_m, rr' ∓ Σ and q − q' of all position pairs from before a step to after it. x1, x2: traces before.
void affine(const Step& step, const Trace& x1, const Trace& x2, State& state);
void dual(const Recipe& recipe, const Step& step, const Trace& x1, const Trace& x2, State& state);
void window(const Step& step, const Trace& x1, const Trace& x2, State& state);
void flatten(const Trace& x1, const Trace& x2, State& state);
void layer_norm(const Trace& x1, const Trace& x2, State& state);
/// Only what belongs to one sample and one position is divided by the rate: cross-covariances keep their value.
void dropout(const Step& step, bool self, const Trace& x1, const Trace& x2, State& state);
/// Adds `other`, dropping position pairs that only one of the two holds.
void join(const Trace& x1, const Trace& x2, State& state, const State& other);

/// These mix the covariances of different positions, whose differences nothing carries. They leave bounds in place of
/// rr' ∓ Σ: for the same window of two samples E[(U ∓ V)²] ≤ (Σ√E[(u ∓ v)²])², the triangle inequality, is twice one.
void pool(const Step& step, const Trace& x1, const Trace& x2, State& state);
void attend(const Trace& x1, const Trace& x2, State& state);
/// rr' ∓ Σ within these bounds, and q − q', as differences by the traces after the step: good to an ulp of rr' in long
/// double.
void complements_of_covariances(const Trace& x1, const Trace& x2, State& state);
/// ζ(p, ·) = softmax over keys of Σ(x,x)(p, ·).
[[nodiscard]] std::vector<Real> attention_weights(const State& self);

}  // namespace widelimit::reference
