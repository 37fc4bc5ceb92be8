#include "experiments/tasks/told_images.hpp"

#include <cmath>

namespace widelimit::experiment {

double ToldImages::standard_error() const {
  const double p = score.accuracy();
  return std::sqrt(p * (1 - p) / static_cast<double>(score.samples));
}

ToldImages told_images(const Fit& fit, Scheme scheme, Index classes, MatrixView<const double> decisions,
                       std::span<const Index> test_labels) {
  return {.lambda = 0,
          .score = class_scores(scheme, classes, decisions, test_labels),
          .told = classes_of(scheme, classes, decisions),
          .summary = fit.summary};
}

}  // namespace widelimit::experiment
