#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/finite/backward.hpp"

namespace widelimit {

/// Adds the empirical kernel of two sets of gradients to `kernel`, all in the memory of an engine: the formulas of
/// empirical_ntk.hpp as products of strips of samples and one pass over their entries. If g1 and g2 are the same, only
/// entries on and above the diagonal, and some below, are valid.
template <std::floating_point T>
void add_contraction(const std::shared_ptr<LayerPasses<T>>& layers, const Architecture& architecture,
                     const Gradient<T>& g1, const Gradient<T>& g2, MatrixView<T> kernel, Progress* progress);

}  // namespace widelimit
