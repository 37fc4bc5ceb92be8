#include "widelimit/machine/probability/probability.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/logistic/logistic_loss.hpp"
#include "widelimit/machine/probability/platt.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

Matrix<double> sigmoids_of(std::span<const Sigmoid> calibration, const Matrix<double>& decisions) {
  Matrix<double> p(decisions.rows(), decisions.cols(), Content::unset);
  for (Index i = 0; i < p.rows(); ++i) {
    for (Index c = 0; c < p.cols(); ++c) {
      p(i, c) = calibration[static_cast<std::size_t>(c)].probability(decisions(i, c));
    }
  }
  return p;
}

/// Returns two columns: the complement and the probability of the second class.
Matrix<double> beside_its_complement(const Matrix<double>& second) {
  Matrix<double> p(second.rows(), 2, Content::unset);
  for (Index i = 0; i < p.rows(); ++i) {
    p(i, 0) = 1 - second(i, 0);
    p(i, 1) = second(i, 0);
  }
  return p;
}

/// Normalises rows to sum 1; uniform if all probabilities are 0.
void normalise(Matrix<double>& p) {
  for (Index i = 0; i < p.rows(); ++i) {
    double* row = p.view().row(i);
    const double sum = std::accumulate(row, row + p.cols(), 0.0);
    for (Index c = 0; c < p.cols(); ++c) row[c] = sum > 0 ? row[c] / sum : 1 / static_cast<double>(p.cols());
  }
}

}  // namespace

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
  if (decisions.cols() < 1) fail(Code::usage, "there are no decisions to convert to probabilities");
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

Matrix<double> class_probabilities(Machine machine, Scheme scheme, Index classes, std::span<const Sigmoid> calibration,
                                   const Matrix<double>& decisions) {
  if (machine == Machine::logistic) {
    return scheme == Scheme::softmax ? softmax_probabilities(decisions) : logistic_probabilities(decisions);
  }
  if (calibration.empty()) {
    fail(Code::usage,
         "this {} has no probabilities; fit a logistic machine, or a support vector machine with calibration",
         to_string(machine));
  }
  if (decisions.cols() != output_count(scheme, classes) || std::ssize(calibration) != decisions.cols()) {
    fail(Code::usage, "{} of {} classes has {} outputs; there are {} decisions and {} sigmoids", to_string(scheme),
         classes, output_count(scheme, classes), decisions.cols(), calibration.size());
  }
  Matrix<double> p = sigmoids_of(calibration, decisions);
  if (scheme == Scheme::sign) return beside_its_complement(p);
  if (is_pairwise(scheme)) return pairwise_coupling(p.view(), classes);
  normalise(p);
  return p;
}

}  // namespace widelimit
