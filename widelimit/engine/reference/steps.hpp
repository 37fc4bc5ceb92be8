#pragma once

#include "widelimit/engine/reference/pair.hpp"

namespace widelimit::reference {

void affine(const Step& step, State& state);
void dual(const Recipe& recipe, const Step& step, const Trace& x1, const Trace& x2, State& state);
void window(const Step& step, State& state);
void pool(const Step& step, State& state);
void flatten(State& state);
void layer_norm(const Trace& x1, const Trace& x2, State& state);
/// Only what belongs to one sample and one position: cross-covariances keep their value.
void dropout_self(const Step& step, State& state);
void attend(const Trace& x1, const Trace& x2, State& state);
/// ζ(p, ·) = softmax over keys of Σ(x,x)(p, ·).
[[nodiscard]] std::vector<Real> attention_weights(const State& self);
/// Adds `other`, dropping position pairs that only one of the two holds.
void join(State& state, const State& other);

}  // namespace widelimit::reference
