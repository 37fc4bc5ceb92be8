#pragma once

#include "experiments/label_aware/la_images.hpp"
#include "widelimit/finite/training/train.hpp"

#include <optional>
#include <vector>

namespace widelimit::experiment {

/// Returns the training of all finite networks of LA on `samples` images: standard parameterisation, PyTorch
/// initialisation, Adam with rate 3·10⁻⁴ and batches of 128, float32.
[[nodiscard]] TrainOptions la_training(const Setting& setting, Index epochs, Index samples);

/// The finite network of LA Tables 1 and 2: seven 3×3 convolutions with these channels and a readout, biases.
struct CnnOptions {
  std::vector<Index> channels;  ///< seven
  Index epochs = 0;
  LossKind loss = LossKind::squared;  ///< squared: targets 0 and 1; softmax: cross-entropy
};
/// Parses the options "channels" and "epochs". Throws Error{usage} unless there are seven channels.
[[nodiscard]] CnnOptions requested_cnn_options(const Setting& setting, LossKind loss);

struct TrainedCnn {
  std::optional<double> accuracy;  ///< on the test images, unless the training failed
  double standard_error = 0;
  TrainSummary summary;
};
/// Trains the network and scores it on the test images. It has one output for two classes with squared loss, else one
/// per class.
[[nodiscard]] TrainedCnn train_cnn(const Setting& setting, const LaImages& images, const CnnOptions& options);
[[nodiscard]] nlohmann::ordered_json cnn_json(const TrainedCnn& cnn);

}  // namespace widelimit::experiment
