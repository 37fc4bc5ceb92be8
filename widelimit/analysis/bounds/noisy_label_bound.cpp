#include "widelimit/analysis/bounds/noisy_label_bound.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Returns √(yᵀH⁻¹y/n).
double norm_per_sample(double norm_square, Index samples) {
  if (samples < 1) fail(Code::input, "there are no samples; a bound needs at least one");
  if (!(norm_square > 0) || !std::isfinite(norm_square)) {
    fail(Code::input, "the squared norm of the labels is {}; a positive number is needed", norm_square);
  }
  return std::sqrt(norm_square / static_cast<double>(samples));
}

}  // namespace

void NoisyLabels::validate() const {
  if (!(flip >= 0 && flip < 0.5)) {
    fail(Code::input, "the flip rate is {}; it must be at least 0 and below 0.5, at which labels carry no information",
         flip);
  }
}

double noisy_label_shape(const NoisyLabels& labels, double norm_square, Index samples, double lambda) {
  labels.validate();
  if (!(lambda > 0) || !std::isfinite(lambda)) fail(Code::input, "lambda is {}; it must be a positive number", lambda);
  const double norm = norm_per_sample(norm_square, samples);
  return (std::sqrt(lambda) * norm + 1 / std::sqrt(lambda)) / (1 - 2 * labels.flip);
}

double noisy_label_best_lambda(double norm_square, Index samples) { return 1 / norm_per_sample(norm_square, samples); }

double clean_error_bound(const NoisyLabels& labels, double noisy_bound) {
  labels.validate();
  if (!(noisy_bound >= 0)) fail(Code::input, "the bound on the error rate is {}; it must not be negative", noisy_bound);
  return std::max(0.0, (noisy_bound - labels.flip) / (1 - 2 * labels.flip));
}

}  // namespace widelimit
