#pragma once

#include "widelimit/kernel/classical/classical.hpp"

#include <vector>

namespace widelimit {

/// Hyper-parameter grid of a classical kernel, relative to the scale of the samples x:
///
///  rbf         γ = 0.01, 0.1, 1, 10 divided by Σⱼ var(xⱼ), half the mean squared distance of two samples
///  laplace     γ = 0.01, 0.1, 1, 10 divided by Σⱼ √var(xⱼ)
///  polynomial  degrees 2, 3 and 4, γ = 1 divided by the mean of ‖x‖², offset 1
///  arccosine   degrees 0, 1 and 2
///  linear      one kernel
///
/// On standardised features these are the grids of Arora et al. (2020), with γ divided by the number of features. γ is
/// rounded to three digits, so that its text form is short and denotes the same kernel.  O(values of x). Throws
/// Error{input} for graphs, and if the scale of the samples is out of range.
[[nodiscard]] std::vector<ClassicalKernel> classical_grid(ClassicalKernel::Name name, const SampleView& x);

}  // namespace widelimit
