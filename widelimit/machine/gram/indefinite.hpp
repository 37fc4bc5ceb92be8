#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Why K has no Cholesky factor, and the ridge that would give it one.
struct Indefinite {
  Index minor = 0;      ///< order of the first leading minor that is not positive; 0 where not known
  double smallest = 0;  ///< eigenvalue of K; beyond 4,000 samples an upper bound, by Lanczos' method
  double norm = 0;      ///< largest eigenvalue in absolute value; there a lower bound
  double lambda = 0;    ///< K + λ/2·I is positive definite by twice the rounding n ε ‖K‖ of its entries
  std::string message;  ///< the same as a sentence
};

/// Samples up to which eigenvalues are computed rather than estimated.
inline constexpr Index most_exact_samples = 4000;

/// Of a K that is finite and symmetric, after its factorisation failed at `minor`.  O(n³) and n² doubles up to
/// `most_exact` samples; beyond, 100 products with K. `progress` may stop it.
[[nodiscard]] Indefinite diagnose(const GramMatrix& k, Index minor, Progress* progress = nullptr,
                                  Index most_exact = most_exact_samples);

/// The message for machines whose λ leaves K as it is: what to add to its diagonal. Cost as diagnose.
[[nodiscard]] std::string diagonal_cure(const GramMatrix& k, Progress* progress = nullptr,
                                        Index most_exact = most_exact_samples);

/// `diagnose` from given eigenvalues; `epsilon` is that of the entries of K.
[[nodiscard]] Indefinite diagnosis(Index minor, double smallest, double norm, Index samples, double epsilon);

/// `count` machines that a K which is not positive semi-definite does not allow: coefficients 0, and in the summary
/// what cures it. `seconds` is what finding out took.
[[nodiscard]] std::vector<Fit> indefinite_fits(const GramMatrix& k, Index samples, Index outputs, std::size_t count,
                                               double seconds, Progress* progress);

/// Makes such machines of those fits whose solver met negative curvature.
void name_cure(const GramMatrix& k, std::span<Fit> fits, Progress* progress);

}  // namespace widelimit
