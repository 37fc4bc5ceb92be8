#pragma once

#include "app/shell/data_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/machine/model_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// A fitted machine or a trained network, read from a file.
struct Predictor {
  std::optional<Model> model;
  std::optional<SavedNetwork> network;
  std::vector<std::string> classes;
  Scheme scheme = Scheme::values;

  [[nodiscard]] std::string name() const;
  [[nodiscard]] Precision precision() const;
  [[nodiscard]] const DataOrigin& origin() const { return model ? model->origin : network->notes.origin; }
  [[nodiscard]] Shape shape() const;          ///< shape of the training samples
  [[nodiscard]] bool channels_first() const;  ///< whether the training samples were read with channels first
};

[[nodiscard]] Predictor load_predictor(const std::string& path, const CommonOptions& common, const Engine& engine);

/// Loads unscaled samples, read like the training samples of the predictor; labels are numbered like its classes.
/// Prints notes.
[[nodiscard]] NewSamples load_samples(const CommonOptions& common, const DataChoice& data, const Predictor& predictor);

/// Predictions on samples.
struct Predictions {
  Matrix<double> decisions;
  Matrix<double> probabilities;   ///< samples × classes; empty if the predictor has none
  std::vector<double> deviation;  ///< posterior standard deviation of each sample; empty without a posterior
  Matrix<double> covariance;      ///< samples × samples; empty unless requested
};

/// Scales the samples of a network in place and predicts.
[[nodiscard]] Predictions predict(const Predictor& predictor, Dataset& data, const Engine& engine,
                                  const PredictOptions& how);

}  // namespace widelimit::app
