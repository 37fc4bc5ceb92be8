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

/// A fitted machine or a trained network, whichever a file holds.
struct Predictor {
  std::optional<Model> model;
  std::optional<SavedNetwork> network;
  std::vector<std::string> classes;
  Scheme scheme = Scheme::values;

  [[nodiscard]] std::string name() const;
  [[nodiscard]] Precision precision() const;
  [[nodiscard]] const DataOrigin& origin() const { return model ? model->origin : network->notes.origin; }
  [[nodiscard]] Shape shape() const;          ///< of the samples it learned from
  [[nodiscard]] bool channels_first() const;  ///< whether these came channel by channel
};

[[nodiscard]] Predictor load_predictor(const std::string& path, const CommonOptions& common, const Engine& engine);

/// The samples as they are in their source, read as those that the predictor was made from; labels by the names of its
/// classes, where they have them. Notes go to standard error.
[[nodiscard]] NewSamples load_samples(const CommonOptions& common, const DataChoice& data, const Predictor& predictor);

/// Predictions on samples.
struct Said {
  Matrix<double> decisions;
  Matrix<double> probabilities;   ///< samples × classes; none where it has none
  std::vector<double> deviation;  ///< standard deviation of each sample, where it has a posterior
  Matrix<double> covariance;      ///< samples × samples, where it was asked for
};

/// Scales the samples as the predictor was taught, and asks it.
[[nodiscard]] Said say(const Predictor& predictor, Dataset& data, const Engine& engine, const PredictOptions& how);

}  // namespace widelimit::app
