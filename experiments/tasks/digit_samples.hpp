#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/request.hpp"

#include <vector>

namespace widelimit::experiment {

/// A few built-in handwritten digits of two classes; each pixel has mean 0 and standard deviation 1 over the training
/// samples.
struct DigitSamples {
  TrainTest data;
  std::vector<double> y;  ///< ±1 of the training samples
};
/// Loads the first `samples` digits of the two classes of the option "digits", alternating between the classes, and the
/// next `tests`.
[[nodiscard]] DigitSamples digit_samples(const Setting& setting, Index samples, Index tests);

}  // namespace widelimit::experiment
