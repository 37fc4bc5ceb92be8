#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/request.hpp"

#include <vector>

namespace widelimit::experiment {

/// A few handwritten digits of two classes, which need no file: each pixel with mean 0 and standard deviation 1 over
/// the training samples.
struct DigitSamples {
  TrainTest data;
  std::vector<double> y;  ///< ±1 of the training samples
};
/// The first `samples` digits of the option "digits", half of them the first where there is an even number, and the
/// next `tests`.
[[nodiscard]] DigitSamples digit_samples(const Setting& setting, Index samples, Index tests);

}  // namespace widelimit::experiment
