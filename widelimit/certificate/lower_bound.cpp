#include "widelimit/certificate/lower_bound.hpp"

#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

std::unique_ptr<LowerBound> LowerBound::within(const Ball& /*largest*/) const { return nullptr; }

FunctionalWeights functional_weights(MatrixView<const double> alpha, std::span<const double> bias,
                                     const Functional& functional, const EntryExponents& exponents) {
  const auto coefficient = [&](Index i, Index output) { return output >= 0 ? alpha(i, output) : 0.0; };
  const auto offset = [&](Index output) { return output >= 0 ? bias[usize(output)] : 0.0; };
  const auto of_sample = [&](std::size_t i) { return exponents.sample.empty() ? 0 : exponents.sample[i]; };
  FunctionalWeights weights{.beta = std::vector<double>(usize(alpha.rows)),
                            .bias = offset(functional.plus) - offset(functional.minus)};
  constexpr int none = EntryExponents::no_entry;
  int largest = none;
  for (std::size_t i = 0; i < weights.beta.size(); ++i) {
    const auto row = static_cast<Index>(i);
    if (of_sample(i) == none) continue;
    const double beta = weights.beta[i] = coefficient(row, functional.plus) - coefficient(row, functional.minus);
    if (beta != 0 && std::isfinite(beta)) largest = std::max(largest, std::ilogb(beta) + of_sample(i));
  }
  if (largest == none) largest = weights.bias != 0 ? std::ilogb(weights.bias) - exponents.point : 0;
  for (std::size_t i = 0; i < weights.beta.size(); ++i) {
    if (weights.beta[i] != 0) weights.beta[i] = std::ldexp(weights.beta[i], of_sample(i) - largest);
  }
  weights.exponent = largest + exponents.point;
  weights.bias = scaled_below(weights.bias, -weights.exponent);
  return weights;
}

FunctionalWeights CertificateProblem::weights(const Functional& functional) const {
  EntryExponents entries = exponents;
  entries.point += kernel.exponent();
  return functional_weights(alpha, bias, functional, entries);
}

BallGroups group_balls(std::span<const Functional> functionals, std::span<const BallQuery> queries) {
  BallGroups groups;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const Ball ball{.point = functionals[usize(queries[q].functional)].point, .radius = queries[q].radius};
    if (groups.balls.empty() || !(groups.balls.back() == ball)) {
      groups.balls.push_back(ball);
      groups.first.push_back(static_cast<Index>(q));
    }
  }
  groups.first.push_back(std::ssize(queries));
  return groups;
}

}  // namespace widelimit
