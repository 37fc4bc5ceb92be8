#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <functional>
#include <optional>

namespace widelimit {

/// K/2^power, exactly. The machine of K/s, λ/s and sα equals that of K, λ and α for any loss, so a kernel of extreme
/// magnitude is scaled to a diagonal near 1.
struct RescaledGram {
  GramMatrix k;
  int power = 0;
};

/// Returns std::nullopt if the diagonal of K, which must have passed its check, needs no rescaling. O(n).
[[nodiscard]] std::optional<RescaledGram> rescaled_gram(const GramMatrix& k);

/// Fits with K/2^power and λ/2^power and scales the coefficients back. Throws Error{input} if λ/2^power exceeds the
/// range of float64; if coefficients do, the fit ends as iteration_limit without a gap.
[[nodiscard]] Fit fit_rescaled(const RescaledGram& gram, double lambda,
                               const std::function<Fit(const GramMatrix& k, double lambda)>& fit);

}  // namespace widelimit
