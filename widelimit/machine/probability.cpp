#include "widelimit/machine/probability.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/logistic_loss.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

Matrix<double> logistic_probabilities(const Matrix<double>& decisions) {
  if (decisions.cols() != 1) {
    fail(Code::usage, "a logistic machine has one output; these decisions have {} columns", decisions.cols());
  }
  Matrix<double> p(decisions.rows(), 2);
  for (Index i = 0; i < p.rows(); ++i) {
    p(i, 0) = logistic_tail(decisions(i, 0));
    p(i, 1) = logistic_tail(-decisions(i, 0));
  }
  return p;
}

Matrix<double> softmax_probabilities(const Matrix<double>& decisions) {
  if (decisions.cols() < 1) fail(Code::usage, "there are no decisions to make probabilities of");
  Matrix<double> p(decisions.rows(), decisions.cols());
  for (Index i = 0; i < p.rows(); ++i) {
    const double* g = decisions.view().row(i);
    const double top = *std::max_element(g, g + p.cols());
    double sum = 0;
    for (Index c = 0; c < p.cols(); ++c) sum += p(i, c) = std::exp(g[c] - top);
    for (Index c = 0; c < p.cols(); ++c) p(i, c) /= sum;
  }
  return p;
}

}  // namespace widelimit
