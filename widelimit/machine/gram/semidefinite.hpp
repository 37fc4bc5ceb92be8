#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// Returns c(n), about n²u + 64nε, with ε the machine epsilon of `precision`. With D = diag K and entries of K accurate
/// to 64ε√(K_ii K_jj): if K is positive semi-definite, K + cD has a Cholesky factor in float64; if K + cD has one,
/// K ⪰ −2cD.
[[nodiscard]] double semidefinite_allowance(Index samples, Precision precision);

/// Whether a diagonal entry is negative. O(n).
[[nodiscard]] bool has_negative_diagonal(const GramMatrix& k);

/// Tests whether K, which must have passed its check, is positive semi-definite up to rounding, by a Cholesky
/// factorisation of K + cD:
///
///   - if K ⪰ 0, the result is true: the factorisation of K + cD does not break down (Demmel; Higham 2002, Thm 10.7);
///   - if the result is true, K ⪰ −2cD: the factor is that of a matrix within nγ_{n+1}D of K + cD (Thm 10.3).
///
/// Hence eigenvalues of D^{−½}KD^{−½} below −2c are always detected. Rows are scaled by powers of 2 to a diagonal near
/// 1, which avoids overflow and underflow; a row with a zero diagonal must be zero. n³/3 multiply-adds and n² doubles;
/// `progress` can interrupt it. The result is cached by a checksum of the entries, so each matrix is factorised once
/// per process; a later call takes one pass over the entries. Throws Error{resource} if the factor does not fit into
/// memory.
[[nodiscard]] bool is_semidefinite(const GramMatrix& k, Progress* progress = nullptr);

}  // namespace widelimit
