#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Explains why K has no Cholesky factor and which ridge λ would make it positive definite.
struct Indefinite {
  Index minor = 0;      ///< order of the first leading minor that is not positive; 0 if unknown
  double smallest = 0;  ///< smallest eigenvalue of K; beyond 4,000 samples an upper bound by Lanczos
  double norm = 0;      ///< largest absolute eigenvalue; beyond 4,000 samples a lower bound
  double lambda = 0;    ///< K + λ/2·I is positive definite with a margin of twice the rounding error n ε ‖K‖
  std::string message;  ///< the same in words
};

/// Largest number of samples for which eigenvalues are computed exactly rather than estimated.
inline constexpr Index most_exact_samples = 4000;

/// Diagnoses a finite, symmetric K whose factorisation failed at `minor`. O(n³) and n² doubles up to `most_exact`
/// samples; 100 products with K beyond. `progress` can interrupt it.
[[nodiscard]] Indefinite diagnose(const GramMatrix& k, Index minor, Progress* progress = nullptr,
                                  Index most_exact = most_exact_samples);

/// Returns the message for machines whose λ does not change K: the amount to add to its diagonal. Same cost as
/// diagnose.
[[nodiscard]] std::string diagonal_shift_advice(const GramMatrix& k, Progress* progress = nullptr,
                                                Index most_exact = most_exact_samples);

/// Same as diagnose, from given eigenvalues; `epsilon` is the machine epsilon of the entries of K.
[[nodiscard]] Indefinite diagnosis(Index minor, double smallest, double norm, Index samples, double epsilon);

/// Returns `count` fits for a K that is not positive semi-definite: zero coefficients, and a summary that names the
/// required diagonal shift. `seconds` is the time of the test.
[[nodiscard]] std::vector<Fit> indefinite_fits(const GramMatrix& k, Index samples, Index outputs, std::size_t count,
                                               double seconds, Progress* progress);

/// Converts fits whose solver met negative curvature to such zero fits.
void name_diagonal_shift(const GramMatrix& k, std::span<Fit> fits, Progress* progress);

}  // namespace widelimit
