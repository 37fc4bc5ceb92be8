#pragma once

#include "widelimit/finite/forward.hpp"

namespace widelimit {

/// J·v: how the output changes when the trained parameters move in direction `change` (what it holds of frozen slots is
/// not read), on the samples of `trace`, which is a forward pass with `parameters` and the same options. Stage by stage
/// as the forward pass, so never a Jacobian. As costly as two forward passes; nothing before the first trained layer
/// costs any. `result` holds the changes of all activations; what is asked for is its output().
template <std::floating_point T>
void tangent(const Architecture& architecture, const Parameters<T>& parameters, const Parameters<T>& change,
             const Trace<T>& trace, const PassOptions& options, const Engine& engine, Trace<T>& result);

}  // namespace widelimit
