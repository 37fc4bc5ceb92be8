#include "experiments/tasks/image_predictions.hpp"

#include "widelimit/report/fit_summary.hpp"

#include <cmath>

namespace widelimit::experiment {

double ImagePredictions::standard_error() const {
  const double p = score.accuracy();
  return std::sqrt(p * (1 - p) / static_cast<double>(score.samples));
}

ImagePredictions image_predictions(const Fit& fit, Scheme scheme, Index classes, MatrixView<const double> decisions,
                                   std::span<const Index> test_labels) {
  return {.lambda = 0,
          .score = class_scores(scheme, classes, decisions, test_labels),
          .predicted = classes_of(scheme, classes, decisions),
          .summary = fit.summary};
}

void add_predictions(nlohmann::ordered_json& json, const ImagePredictions& predictions) {
  if (predictions.solved()) {
    json["accuracy"] = predictions.score.accuracy();
    json["standard_error"] = predictions.standard_error();
    json["correct"] = predictions.score.correct;
  }
  json["summary"] = summary_json(predictions.summary);
}

}  // namespace widelimit::experiment
