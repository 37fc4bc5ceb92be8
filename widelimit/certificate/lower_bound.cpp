#include "widelimit/certificate/lower_bound.hpp"

namespace widelimit {

std::unique_ptr<LowerBound> LowerBound::within(const Ball& /*largest*/) const { return nullptr; }

FunctionalWeights functional_weights(MatrixView<const double> alpha, std::span<const double> bias,
                                     const Functional& functional) {
  const auto coefficient = [&](Index i, Index output) { return output >= 0 ? alpha(i, output) : 0.0; };
  const auto offset = [&](Index output) { return output >= 0 ? bias[at(output)] : 0.0; };
  FunctionalWeights weights{.beta = std::vector<double>(at(alpha.rows)),
                            .bias = offset(functional.plus) - offset(functional.minus)};
  for (Index i = 0; i < alpha.rows; ++i) {
    weights.beta[at(i)] = coefficient(i, functional.plus) - coefficient(i, functional.minus);
  }
  return weights;
}

}  // namespace widelimit
