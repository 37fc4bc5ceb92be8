#pragma once

#include "app/shell/data_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/data/dataset.hpp"
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
  [[nodiscard]] Shape shape() const;          ///< of the samples it learned from
  [[nodiscard]] bool channels_first() const;  ///< whether these came channel by channel
};

[[nodiscard]] Predictor load_predictor(const std::string& path, const CommonOptions& common, const Engine& engine);

/// Error{usage} for --scale: a predictor applies the scaling that it was fitted with.
void require_no_scale(const DataChoice& data);

/// The samples as they are in their source; labels by the names of the predictor's classes, where they have them.
[[nodiscard]] Dataset load_samples(const CommonOptions& common, const DataChoice& data, const Predictor& predictor);

/// Predictions on samples.
struct Said {
  Matrix<double> decisions;
  Matrix<double> probabilities;   ///< samples × classes; none where it has none
  std::vector<double> deviation;  ///< standard deviation of each sample, where it has a posterior
};

/// Scales the samples as the predictor was taught, and asks it.
[[nodiscard]] Said say(const Predictor& predictor, Dataset& data, const Engine& engine, const PredictOptions& how);

/// Applies the predictor's scaling in place; the predictor then treats all samples as scaled.
void scale_for_good(Predictor& predictor, Dataset& data);

}  // namespace widelimit::app
