#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/finite/training/network_targets.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment {

/// Parses the option "digits". Throws Error{usage} unless there are two.
[[nodiscard]] std::vector<std::string> two_digits(const Setting& setting);

/// A few built-in handwritten digits of two classes; each pixel has mean 0 and standard deviation 1 over the training
/// samples.
struct DigitSamples {
  TrainTest data;
  std::vector<double> y;  ///< ±1 of the training samples
};
/// Loads the first `samples` digits of the two classes of the option "digits", alternating between the classes, and the
/// next `tests`.
[[nodiscard]] DigitSamples digit_samples(const Setting& setting, Index samples, Index tests);

/// Loads the first `samples` training images of classes 0 and 1 of `set`, "mnist" or "cifar10", and their first `tests`
/// test images (0: no test set). Throws Error{input} with the searched locations if the set is missing.
[[nodiscard]] TrainTest first_two_classes(const Setting& setting, const std::string& set, Scaling scale, Index samples,
                                          Index tests);

/// MNIST 0 and 1, values in [0, 1]: samples for training networks and machines.
struct DigitPair {
  TrainTest data;
  NetworkTargets targets;  ///< ±1
};

/// Loads the images as first_two_classes does.
[[nodiscard]] DigitPair digit_pair(const Setting& setting, Index samples, Index tests);

/// Returns the options of the experiments of EQ: step size η̂ on the mean loss, i.e. η̂/n on the sum, with the distance
/// to initialisation as regulariser.
[[nodiscard]] EquivalenceOptions digit_options(const Setting& setting, const DigitPair& pair, double mean_rate);

/// Compares networks with their machine; checks for interruption first.
[[nodiscard]] Equivalence compare_digits(const Setting& setting, const DigitPair& pair, const std::string& network,
                                         const EquivalenceOptions& options);

}  // namespace widelimit::experiment
