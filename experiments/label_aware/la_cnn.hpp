#pragma once

#include "experiments/label_aware/la_images.hpp"
#include "widelimit/finite/training/train.hpp"

#include <optional>
#include <vector>

namespace widelimit::experiment {

/// The network of LA's tables 1 and 2 at finite width: seven convolutions of 3×3 with so many channels and a readout,
/// biases, PyTorch's initialisation, Adam of rate 3·10⁻⁴ on batches of 128.
struct CnnOptions {
  std::vector<Index> channels;  ///< seven
  Index epochs = 0;
  LossKind loss = LossKind::squared;  ///< squared: on 0 and 1; softmax: cross-entropy
};
/// The options "channels" and "epochs". Error{usage} where there are not seven channels.
[[nodiscard]] CnnOptions asked_cnn(const Setting& setting, LossKind loss);

struct TrainedCnn {
  std::optional<double> accuracy;  ///< on the test images, unless the training failed
  double standard_error = 0;
  TrainSummary summary;
};
/// Two classes have one output for the squared loss, else there is one for each class.
[[nodiscard]] TrainedCnn train_cnn(const Setting& setting, const LaImages& images, const CnnOptions& options);
[[nodiscard]] nlohmann::ordered_json cnn_json(const TrainedCnn& cnn);

}  // namespace widelimit::experiment
