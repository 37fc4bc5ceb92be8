#include "widelimit/certificate/convex/gradient.hpp"

#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

namespace widelimit {

FunctionalGradient::FunctionalGradient(MatrixView<const double> support, std::span<const Functional> functionals,
                                       const std::function<FunctionalWeights(const Functional&)>& weights,
                                       EntryRule rule)
    : support_(support), functionals_(functionals), rule_(std::move(rule)), weights_(functionals, weights) {}

void FunctionalGradient::evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                                  MatrixView<double> gradients) const {
  const Index supports = support_.rows;
  std::vector<double> memory(at(x.rows * supports)), along(at(x.rows));
  const MatrixView<double> pairs{memory.data(), x.rows, supports, supports};
  cpu::gemm<double>(1, Transpose::no, x, Transpose::yes, support_, 0, pairs);
  EntrySlopes slopes(supports);
  for (Index k = 0; k < x.rows; ++k) {
    double* row = pairs.row(k);
    rule_(euclidean_norm(x.row(k), x.cols), row, slopes);
    const FunctionalWeights& weights = weights_.of(functionals_[at(which[at(k)])]);
    values[k] = weights.bias;
    for (Index i = 0; i < supports; ++i) {
      const double beta = weights.beta[at(i)];
      values[k] += beta * slopes.value[at(i)];
      along[at(k)] += beta * slopes.along[at(i)];
      row[i] = beta * slopes.across[at(i)];
    }
  }
  cpu::gemm<double>(1, Transpose::no, pairs, Transpose::no, support_, 0, gradients);
  for (Index k = 0; k < x.rows; ++k) {
    for (Index j = 0; j < x.cols; ++j) gradients(k, j) += along[at(k)] * x(k, j);
  }
}

}  // namespace widelimit
