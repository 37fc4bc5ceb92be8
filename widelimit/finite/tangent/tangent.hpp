#pragma once

#include "widelimit/finite/forward.hpp"

namespace widelimit {

/// Computes J·v: the derivative of the output along the direction `change` of the trained parameters (values of frozen
/// slots are ignored), on the samples of `trace`, a forward pass with `parameters` and the same options. Stage by stage
/// like the forward pass, without a Jacobian. Costs two forward passes; stages before the first trained layer are free.
/// `result` holds the derivatives of all activations; result.output() is J·v.
template <std::floating_point T>
void tangent(const Architecture& architecture, const Parameters<T>& parameters, const Parameters<T>& change,
             const Trace<T>& trace, const PassOptions& options, const Engine& engine, Trace<T>& result);

}  // namespace widelimit
