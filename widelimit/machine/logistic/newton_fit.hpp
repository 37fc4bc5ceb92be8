#pragma once

#include "widelimit/base/clock.hpp"
#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/rescaled_gram.hpp"
#include "widelimit/machine/gram/rounding.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/logistic/logistic.hpp"

#include <span>
#include <utility>
#include <vector>

namespace widelimit {

/// The steps around Newton's method that logistic and softmax regression share: a kernel of extreme magnitude is
/// rescaled, K is tested for negative eigenvalues, samples of weight 0 are left out, and a K that proves indefinite
/// later gets its message. `check(labels, weights, samples)` throws Error{input} for invalid labels; `solve(k, labels,
/// options, rounding)` returns the fit of what remains, with all weights positive.
template <typename Label, typename Check, typename Solve>
Fit newton_fit(const GramMatrix& k, std::span<const Label> labels, Index outputs, const LogisticOptions& options,
               const Check& check, const Solve& solve) {
  const auto begin = Clock::now();
  options.validate();
  const double asymmetry = k.check();
  check(labels, options.weights, k.samples());
  if (const auto rescaled = rescaled_gram(k)) {
    return fit_rescaled(*rescaled, options.lambda, [&](const GramMatrix& scaled, double lambda) {
      LogisticOptions inner = options;
      inner.lambda = lambda;
      return newton_fit(scaled, labels, outputs, inner, check, solve);
    });
  }
  const bool known = !options.check_definite && !has_negative_diagonal(k);
  if (!known && !is_semidefinite(k, options.progress)) {
    return std::move(indefinite_fits(k, k.samples(), outputs, 1, seconds_since(begin), options.progress).front());
  }
  if (const auto kept = positive_weight_samples(options.weights)) {
    const std::vector<double> weights = chosen(options.weights, *kept);
    const std::vector<Label> some = chosen(labels, *kept);
    LogisticOptions inner = options;
    inner.weights = weights;
    inner.check_definite = false;
    return among_all(newton_fit(k.part(*kept), std::span(some), outputs, inner, check, solve), *kept, k.samples());
  }
  Fit fit = solve(k, labels, options, ProductRounding(k, asymmetry));
  fit.summary.seconds = seconds_since(begin);
  name_diagonal_shift(k, {&fit, 1}, options.progress);
  return fit;
}

}  // namespace widelimit
