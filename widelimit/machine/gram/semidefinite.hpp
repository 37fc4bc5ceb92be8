#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// c(n): with D = diag K and the entries of K right to 64ε√(K_ii K_jj), ε that of their precision, K + cD of any
/// positive semi-definite K has a Cholesky factor in float64, and K ⪰ −2cD where K + cD has one.  About n²u + 64nε.
[[nodiscard]] double semidefinite_allowance(Index samples, Precision precision);

/// Whether an entry of the diagonal is below 0.  O(n).
[[nodiscard]] bool has_negative_diagonal(const GramMatrix& k);

/// Whether K, which has passed its check, is positive semi-definite up to rounding, by a Cholesky factor of K + cD:
///
///   - if K ⪰ 0, the answer is yes: the factorisation of K + cD does not break down (Demmel; Higham 2002, Thm 10.7);
///   - if the answer is yes, K ⪰ −2cD: the factor is that of a matrix within nγ_{n+1}D of K + cD (Thm 10.3).
///
/// So eigenvalues of D^{−½}KD^{−½} below −2c are always found. Rows are scaled by powers of 2 to a diagonal near 1, so
/// that neither large nor small kernels leave the range of float64; a row whose diagonal is 0 must be 0.
/// n³/3 multiply-adds and n² doubles; `progress` may stop it. The answer is remembered by a checksum of the entries, so
/// that the same matrix is factored once in a process however many machines are fitted to it; a later question takes
/// one pass over the entries. Error{resource} where there is no memory for the factor.
[[nodiscard]] bool is_semidefinite(const GramMatrix& k, Progress* progress = nullptr);

}  // namespace widelimit
