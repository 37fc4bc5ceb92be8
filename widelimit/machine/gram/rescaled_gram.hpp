#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <functional>
#include <optional>

namespace widelimit {

/// K/2^power, exactly. The machine of K/s, λ/s and sα is that of K, λ and α, whatever the loss: so a kernel far from 1
/// is brought there.
struct RescaledGram {
  GramMatrix k;
  int power = 0;
};

/// Nothing where the diagonal of K, which has passed its check, is near enough to 1.  O(n).
[[nodiscard]] std::optional<RescaledGram> rescaled_gram(const GramMatrix& k);

/// The fit at K/2^power and λ/2^power, with its coefficients brought back. Error{input} where λ/2^power is beyond
/// float64; coefficients that are end as iteration_limit, without a gap.
[[nodiscard]] Fit fit_rescaled(const RescaledGram& gram, double lambda,
                               const std::function<Fit(const GramMatrix& k, double lambda)>& fit);

}  // namespace widelimit
