#include "app/fit/predictor.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/probability/network_probabilities.hpp"
#include "widelimit/machine/probability/probability.hpp"

#include <cmath>

namespace widelimit::app {

std::string Predictor::name() const {
  return model ? std::string(to_string(model->machine))
               : fmt::format("network of width {}", network->trained.widths.hidden);
}

Precision Predictor::precision() const { return model ? model->precision : network->trained.precision(); }

Shape Predictor::shape() const { return model ? model->shape : network->trained.shape; }

bool Predictor::channels_first() const { return model ? model->channels_first : network->notes.channels_first; }

Predictor load_predictor(const std::string& path, const CommonOptions& common, const Engine& engine) {
  const ReadLimits limits{common.memory_limit(), nullptr};
  Predictor predictor;
  if (holds_network(path)) {
    predictor.network = load_network(path, limits, engine);
    predictor.classes = predictor.network->notes.classes;
    const TrainSummary& summary = predictor.network->trained.summary;
    if (!summary.finished()) {
      warn(common, fmt::format("the training of {} ended as {}: {}", path, text(summary.ending), summary.message));
    }
    const bool single = predictor.network->trained.architecture.output.size() == 1;
    if (!predictor.classes.empty()) predictor.scheme = single ? Scheme::sign : Scheme::one_hot;
  } else {
    predictor.model = load_model(path, limits);
    predictor.classes = predictor.model->classes;
    predictor.scheme = predictor.model->scheme;
  }
  return predictor;
}

NewSamples load_samples(const CommonOptions& common, const DataChoice& data, const Predictor& predictor) {
  ProgressBar bar(common);
  DataRequest request = data.parsed();
  request.memory = common.memory_limit();
  request.progress = &bar;
  if (!request.layout.given()) {
    request.layout = {.shape = predictor.shape(), .channels_first = predictor.channels_first(), .where_needed = true};
  }
  NewSamples samples = load_new_samples(request, predictor.origin(), predictor.classes, parse_part(data.part));
  stop_if_interrupted();
  if (predictor.classes.empty() && predictor.model && !samples.data.targets.empty() && predictor.model->outputs() > 1) {
    fail(
        Code::input,
        "{}: the model predicts {} numbers per sample, but the samples have one label; name all label columns, or none",
        samples.data.name, predictor.model->outputs());
  }
  for (const std::string& found : samples.notes) note(common, found);
  return samples;
}

namespace {

Predictions predict_with_model(const Model& model, const Dataset& data, const Engine& engine,
                               const PredictOptions& how) {
  Predictions predictions;
  if (model.posterior) {
    Posterior posterior = predict_posterior(model, data.view(), engine, how);
    predictions.decisions = std::move(posterior.mean);
    for (const double variance : posterior.variance) predictions.deviation.push_back(std::sqrt(variance));
    predictions.covariance = std::move(posterior.covariance);
  } else {
    predictions.decisions = predict_decisions(model, data.view(), engine, how);
  }
  if (has_probabilities(model.machine, model.calibration)) {
    predictions.probabilities = class_probabilities(model.machine, model.scheme, std::ssize(model.classes),
                                                    model.calibration, predictions.decisions);
  }
  return predictions;
}

}  // namespace

Predictions predict(const Predictor& predictor, Dataset& data, const Engine& engine, const PredictOptions& how) {
  if (predictor.model) return predict_with_model(*predictor.model, data, engine, how);
  if (predictor.network->notes.scaling) predictor.network->notes.scaling->apply(data);
  Predictions predictions;
  predictions.decisions = predict_outputs(predictor.network->trained, data.view(), engine, how.progress);
  predictions.probabilities = network_probabilities(predictor.network->notes, predictions.decisions);
  return predictions;
}

}  // namespace widelimit::app
