#include "widelimit/machine/gram/rescaled_gram.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Powers of 2 between which squares and sums of entries are far from the ends of float64.
constexpr int farthest_power = 300;
constexpr double farthest_ratio = 1e280;

}  // namespace

std::optional<RescaledGram> rescaled_gram(const AnyView& k) {
  const auto* twice = std::get_if<MatrixView<const double>>(&k);
  if (twice == nullptr) return std::nullopt;  // float32 does not reach so far
  double largest = 0;
  for (Index i = 0; i < twice->rows; ++i) largest = std::max(largest, std::abs((*twice)(i, i)));
  if (largest == 0 || std::abs(std::ilogb(largest)) <= farthest_power) return std::nullopt;
  RescaledGram result{Matrix<double>(twice->rows, twice->cols, Content::unset), std::ilogb(largest)};
  for (Index i = 0; i < twice->rows; ++i) {
    for (Index j = 0; j < twice->cols; ++j) result.k(i, j) = std::ldexp((*twice)(i, j), -result.power);
  }
  return result;
}

Fit fit_rescaled(const RescaledGram& gram, double lambda,
                 const std::function<Fit(const AnyView& k, double lambda)>& fit) {
  const double scaled = std::ldexp(lambda, -gram.power);
  if (!(scaled >= 1 / farthest_ratio && scaled <= farthest_ratio)) {
    fail(Code::input, "lambda = {:g} beside a kernel of about {:.1g} is beyond float64; divide both by a constant",
         lambda, std::ldexp(1.0, gram.power));
  }
  Fit result = fit(gram.k.view(), scaled);
  bool exact = true;
  for (Index i = 0; i < result.alpha.rows() * result.alpha.cols(); ++i) {
    const double alpha = std::ldexp(result.alpha.data()[i], -gram.power);
    exact = exact && std::ldexp(alpha, gram.power) == result.alpha.data()[i];
    result.alpha.data()[i] = std::isfinite(alpha) ? alpha : 0;
  }
  if (!exact && result.summary.ending != Ending::not_positive_definite) {
    result.summary.ending = Ending::iteration_limit;
    result.summary.primal = result.summary.dual = result.summary.gap = std::nullopt;
    result.summary.message = "coefficients are beyond the range of float64; divide kernel and lambda by a constant";
  }
  return result;
}

}  // namespace widelimit
