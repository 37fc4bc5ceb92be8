#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "widelimit/finite/training/network_targets.hpp"

namespace widelimit::experiment {

/// The option "digits": two of them. Error{usage} where there are not.
[[nodiscard]] std::vector<std::string> two_digits(const Setting& setting);

/// MNIST 0 and 1, values in [0, 1]: samples to train networks and machines on, the same for both.
struct DigitPair {
  TrainTest data;
  NetworkTargets targets;  ///< ±1
};

/// The first `samples` training images and the first `tests` test images (none: no test set). Error{input} says where
/// MNIST is looked for.
[[nodiscard]] DigitPair digit_pair(const Setting& setting, Index samples, Index tests);

/// Training as EQ's experiments have it: a step of size η̂ on the mean of the losses, η̂/n on their sum, under the
/// distance to initialisation unless said otherwise.
[[nodiscard]] EquivalenceOptions digit_options(const Setting& setting, const DigitPair& pair, double mean_rate);

/// Networks beside their machine. Hears Ctrl-C first.
[[nodiscard]] Equivalence compare_digits(const Setting& setting, const DigitPair& pair, const std::string& network,
                                         const EquivalenceOptions& options);

/// "slope" and "interval" of a record; nothing where there is no slope.
void tell_fit(nlohmann::ordered_json& json, const std::optional<LineFit>& fit);

}  // namespace widelimit::experiment
