#pragma once

#include "widelimit/finite/forward.hpp"

namespace widelimit {

/// J·v: how the output changes when the parameters move in direction `change`, on the samples of `trace`, which is a
/// forward pass with `parameters` and the same options. Stage by stage as the forward pass, so never a Jacobian. As
/// costly as two forward passes. `result` holds the changes of all activations; what is asked for is its output().
template <std::floating_point T>
void tangent(const Architecture& architecture, const Parameters<T>& parameters, const Parameters<T>& change,
             const Trace<T>& trace, const PassOptions& options, const Engine& engine, Trace<T>& result);

}  // namespace widelimit
