#pragma once

#include "widelimit/base/samples.hpp"

namespace widelimit {

/// Error{input} unless K can be a Gram matrix: square, at least one sample, finite, symmetric, its diagonal at most
/// 1e300. Names an entry that is not finite, or a pair that differs with both values. Our kernels are exactly
/// symmetric; those of others may round the two halves differently, so |K_ij − K_ji| ≤ 64 ε √|K_ii K_jj| passes, ε that
/// of the matrix. Returns δ with |K_ij − K_ji| ≤ δ √|K_ii K_jj|: 0 where the halves are equal, else 64 ε.  O(n²).
double check_gram(const AnyView& k, int threads = 0);

}  // namespace widelimit
