#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"

namespace widelimit {

/// out = K·v of a symmetric K as if made in twice the precision and rounded once: right to u of each entry and γ_n² of
/// what its terms add up to. All of v and out in memory, rows without gaps.  O(n²·columns), about five times as long as
/// `multiply`. `progress` may stop it.
void multiply_precisely(const AnyView& k, MatrixView<const double> v, MatrixView<double> out, int threads = 0,
                        Progress* progress = nullptr);

}  // namespace widelimit
