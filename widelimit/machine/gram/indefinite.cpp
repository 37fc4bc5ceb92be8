#include "widelimit/machine/gram/indefinite.hpp"

#include "widelimit/machine/gram/extremes.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Rounds up to two significant digits, so that the recommended shift is large enough.
double rounded_up(double value) {
  if (!(value > 0)) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  const double rounded = std::ceil(value / unit) * unit;
  return std::isfinite(rounded) && rounded >= value ? rounded : value;
}

}  // namespace

Indefinite diagnosis(Index minor, double smallest, double norm, Index samples, double epsilon) {
  Indefinite result{minor, smallest, norm, 0, {}};
  const double rounding = static_cast<double>(samples) * epsilon * norm;
  result.lambda = rounded_up(2 * (std::max(-smallest, 0.0) + 2 * rounding));
  result.message = "the Gram matrix is not positive definite: ";
  if (minor > 0) {
    result.message += fmt::format("its leading minor of order {} is not positive beyond rounding, ", minor);
  }
  result.message += fmt::format("its smallest eigenvalue is {:.2g}, its largest {:.2g}; ", smallest, norm);
  result.message += norm > 0 ? fmt::format("a ridge lambda of {:.2g} or more makes it positive definite", result.lambda)
                             : std::string("any ridge lambda > 0 makes it positive definite");
  return result;
}

Indefinite diagnose(const GramMatrix& k, Index minor, Progress* progress, Index most_exact) {
  const Index n = k.samples();
  const Extremes extremes = n <= most_exact ? exact_extremes(k, progress) : lanczos_extremes(k, progress);
  return diagnosis(minor, extremes.smallest, std::max(std::abs(extremes.smallest), std::abs(extremes.largest)), n,
                   k.epsilon());
}

std::string diagonal_shift_advice(const GramMatrix& k, Progress* progress, Index most_exact) {
  const Indefinite found = diagnose(k, 0, progress, most_exact);
  if (k.samples() <= most_exact) {
    return fmt::format("the Gram matrix has the negative eigenvalue {:.2g}; add {:.2g} or more to its diagonal",
                       found.smallest, found.lambda / 2);
  }
  // Ritz values lie inside the spectrum, so take twice the estimate, and at least the threshold of the
  // semi-definiteness test.
  const double least =
      2 * semidefinite_allowance(k.samples(), k.precision()) * found.norm / static_cast<double>(k.samples());
  return fmt::format(
      "the Gram matrix has a negative eigenvalue, of {:.2g} or below; add {:.2g} or more to its diagonal",
      std::min(found.smallest, -least), rounded_up(2 * std::max(-found.smallest, 0.0) + 2 * least));
}

std::vector<Fit> indefinite_fits(const GramMatrix& k, Index samples, Index outputs, std::size_t count, double seconds,
                                 Progress* progress) {
  std::vector<Fit> fits;
  const std::string message = diagonal_shift_advice(k, progress);
  for (std::size_t f = 0; f < count; ++f) {
    fits.push_back(zero_fit(samples, outputs));
    fits.back().summary.ending = Ending::not_positive_definite;
    fits.back().summary.message = message;
    fits.back().summary.method = "not begun";
    fits.back().summary.seconds = seconds / static_cast<double>(count);
  }
  return fits;
}

void name_diagonal_shift(const GramMatrix& k, std::span<Fit> fits, Progress* progress) {
  std::string message;
  for (Fit& fit : fits) {
    if (fit.summary.ending != Ending::not_positive_definite) continue;
    if (message.empty()) message = diagonal_shift_advice(k, progress);
    fit.summary.message = message;
    std::fill_n(fit.alpha.data(), fit.alpha.rows() * fit.alpha.cols(), 0.0);
    std::fill(fit.bias.begin(), fit.bias.end(), 0.0);
  }
}

}  // namespace widelimit
