#include "widelimit/certificate/gradient.hpp"

#include "widelimit/backend/cpu/gemm.hpp"
#include "widelimit/certificate/cone_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

FunctionalGradient::FunctionalGradient(const CertificateProblem& problem, MatrixView<const double> directions,
                                       std::span<const double> norms)
    : problem_(problem), directions_(directions) {
  for (const Functional& f : problem.functionals) {
    FunctionalWeights& weights = weights_[{f.plus, f.minus}];
    if (!weights.beta.empty()) continue;
    weights = functional_weights(problem.alpha, problem.bias, f);
    for (Index i = 0; i < problem.alpha.rows; ++i) weights.beta[at(i)] *= norms[at(i)];
  }
}

void FunctionalGradient::evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                                  MatrixView<double> gradients) const {
  constexpr double farthest = 1 - 1e-9;  // from where κ' is cut off
  const Index supports = directions_.rows;
  const ConeKernel& kernel = problem_.kernel;
  std::vector<double> memory(at(x.rows * supports));
  const MatrixView<double> u{memory.data(), x.rows, supports, supports};
  cpu::multiply_transposed(x, directions_, u);
  std::vector<double> kappa(at(supports)), slope(at(supports)), along(at(x.rows));
  for (Index k = 0; k < x.rows; ++k) {
    const double norm = euclidean_norm(x.row(k), x.cols);
    const double inverse = norm > 0 ? 1 / norm : 0;
    double* row = u.row(k);
    for (Index i = 0; i < supports; ++i) row[i] = std::clamp(row[i] * inverse, -farthest, farthest);
    kernel.evaluate(supports, {.u = row, .value = kappa.data(), .slope = slope.data()});
    const Functional& f = problem_.functionals[at(which[at(k)])];
    const FunctionalWeights& weights = weights_.at({f.plus, f.minus});
    double sum = 0, radial = 0;
    for (Index i = 0; i < supports; ++i) {
      const double w = weights.beta[at(i)];
      sum += w * kappa[at(i)];
      radial += w * (kappa[at(i)] - row[i] * slope[at(i)]);
      row[i] = kernel.scale() * w * slope[at(i)];
    }
    values[k] = kernel.scale() * norm * sum + weights.bias;
    along[at(k)] = kernel.scale() * radial * inverse;
  }
  cpu::multiply(u, directions_, gradients);
  for (Index k = 0; k < x.rows; ++k) {
    for (Index j = 0; j < x.cols; ++j) gradients(k, j) += along[at(k)] * x(k, j);
  }
}

}  // namespace widelimit
