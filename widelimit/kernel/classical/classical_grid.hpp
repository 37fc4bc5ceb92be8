#pragma once

#include "widelimit/kernel/classical/classical.hpp"

#include <vector>

namespace widelimit {

/// The kernels of one name among which a choice is made for samples x, by their scale:
///
///   rbf         γ = 0.01, 0.1, 1, 10 by Σⱼ var(xⱼ), half the mean squared distance of two samples
///   laplace     γ = 0.01, 0.1, 1, 10 by Σⱼ √var(xⱼ)
///   polynomial  degrees 2, 3 and 4, γ = 1 by the mean of ‖x‖², offset 1
///   arccosine   degrees 0, 1 and 2
///   linear      alone
///
/// On standardised features these are the grids of Arora et al. (2020), γ by the number of features. γ has three
/// digits, so that its text is short and means the same kernel.  O(numbers of x). Error{input} for graphs, and where
/// the scale of the samples is out of range.
[[nodiscard]] std::vector<ClassicalKernel> classical_grid(ClassicalKernel::Name name, const SampleView& x);

}  // namespace widelimit
