#include "widelimit/machine/gram/rescaled_gram.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Range of powers of 2 within which squares and sums of entries neither overflow nor underflow in float64.
constexpr int farthest_power = 300;
constexpr double farthest_ratio = 1e280;

}  // namespace

std::optional<RescaledGram> rescaled_gram(const GramMatrix& k) {
  if (k.precision() == Precision::f32) return std::nullopt;  // the range of float32 is smaller
  double largest = 0;
  for (const double own : k.diagonal()) largest = std::max(largest, std::abs(own));
  if (largest == 0 || std::abs(std::ilogb(largest)) <= farthest_power) return std::nullopt;
  const int power = std::ilogb(largest);
  EngineMatrix scaled = k.algebra().copy_of(k.matrix(), Precision::f64);
  // In two steps, since 2^−power itself may overflow.
  for (const int part : {-power / 2, -power - -power / 2}) {
    k.algebra().scale_rows(scaled, std::vector<double>(usize(k.samples()), std::ldexp(1.0, part)));
  }
  return RescaledGram{{std::move(scaled), k.engine()}, power};
}

Fit fit_rescaled(const RescaledGram& gram, double lambda,
                 const std::function<Fit(const GramMatrix& k, double lambda)>& fit) {
  const double scaled = std::ldexp(lambda, -gram.power);
  if (!(scaled >= 1 / farthest_ratio && scaled <= farthest_ratio)) {
    fail(Code::input,
         "lambda = {:g} with a kernel of magnitude {:.1g} exceeds the range of float64; divide both by a constant",
         lambda, std::ldexp(1.0, gram.power));
  }
  Fit result = fit(gram.k, scaled);
  bool exact = true;
  for (Index i = 0; i < result.alpha.rows() * result.alpha.cols(); ++i) {
    const double alpha = std::ldexp(result.alpha.data()[i], -gram.power);
    exact = exact && std::ldexp(alpha, gram.power) == result.alpha.data()[i];
    result.alpha.data()[i] = std::isfinite(alpha) ? alpha : 0;
  }
  if (!exact && result.summary.ending != Ending::not_positive_definite) {
    result.summary.ending = Ending::iteration_limit;
    result.summary.primal = result.summary.dual = result.summary.gap = std::nullopt;
    result.summary.message = "coefficients exceed the range of float64; divide kernel and lambda by a constant";
  }
  return result;
}

}  // namespace widelimit
