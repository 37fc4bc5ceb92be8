#include "experiments/label_aware/la_cnn.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

/// Returns targets 0 and 1 of a single output, or one-hot targets.
Matrix<double> cnn_targets(std::span<const Index> labels, Index outputs) {
  Matrix<double> targets(std::ssize(labels), outputs);
  for (Index i = 0; i < targets.rows(); ++i) {
    const Index label = labels[usize(i)];
    if (outputs == 1) {
      targets(i, 0) = static_cast<double>(label);
    } else {
      targets(i, label) = 1;
    }
  }
  return targets;
}

Index predicted_class(const double* outputs, Index count) {
  return count == 1 ? (outputs[0] > 0.5 ? 1 : 0) : std::max_element(outputs, outputs + count) - outputs;
}

}  // namespace

TrainOptions la_training(const Setting& setting, Index epochs, Index samples) {
  TrainOptions how = setting.training();
  how.parameterisation = Parameterisation::standard;
  how.initialisation = Initialisation::pytorch;
  how.regulariser = Regulariser::none;
  how.rate = 3e-4;
  how.epochs = epochs;
  how.batch = std::min<Index>(128, samples);
  how.optimiser.kind = OptimiserKind::adam;
  how.precision = Precision::f32;
  how.keep_record = false;
  return how;
}

CnnOptions requested_cnn_options(const Setting& setting, LossKind loss) {
  CnnOptions options{.channels = setting.counts("channels", 1), .epochs = setting.count("epochs", 0), .loss = loss};
  if (options.channels.size() != 7) {
    fail(Code::usage, "--channels {}: expected seven numbers, one for each convolution", setting.text("channels"));
  }
  return options;
}

TrainedCnn train_cnn(const Setting& setting, const LaImages& images, const CnnOptions& options) {
  const Index outputs = options.loss == LossKind::squared && images.classes() == 2 ? 1 : images.classes();
  const Matrix<double> targets = cnn_targets(images.train.labels, outputs);
  TrainOptions how = la_training(setting, options.epochs, images.train.count());
  how.layer_widths = options.channels;
  how.loss.kind = options.loss;
  // Convolutions of PyTorch have biases; its initialisation ignores the value of b_std.
  const TrainedNetwork trained =
      train(Network::parse("lantk_cnn8(b_std=1)"), {images.train.view(), targets.view()}, how, setting.engine);
  TrainedCnn result{.accuracy = std::nullopt, .summary = trained.summary};
  if (!trained.summary.finished()) return result;
  const Matrix<double> f = predict_outputs(trained, images.test.view(), setting.engine, setting.progress);
  Index correct = 0;
  for (Index i = 0; i < f.rows(); ++i) {
    correct += predicted_class(f.view().row(i), outputs) == images.test.labels[usize(i)] ? 1 : 0;
  }
  const auto tests = static_cast<double>(f.rows());
  result.accuracy = static_cast<double>(correct) / tests;
  result.standard_error = std::sqrt(*result.accuracy * (1 - *result.accuracy) / tests);
  return result;
}

nlohmann::ordered_json cnn_json(const TrainedCnn& cnn) {
  nlohmann::ordered_json json{{"kernel", "CNN"}, {"steps", cnn.summary.steps}, {"seconds", cnn.summary.seconds}};
  if (cnn.accuracy) {
    json["accuracy"] = *cnn.accuracy;
    json["standard_error"] = cnn.standard_error;
  } else {
    json["message"] = cnn.summary.message;
  }
  return json;
}

}  // namespace widelimit::experiment
