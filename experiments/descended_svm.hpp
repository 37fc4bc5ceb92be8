#pragma once

#include "experiments/certified_digits.hpp"

#include <span>

namespace widelimit::experiment {

/// The `paper` radii of EQ's SVM while stochastic subgradient descent trains it, beside those of the minimiser.
struct DescendedSvm {
  Part part;
  nlohmann::ordered_json results;
};

/// EQ does not say how long its SVM was trained, and radii fall all the while. λ beside the sum of losses; steps of 1
/// on the mean of 64 losses, EQ's for all of MNIST 0 and 1 (Figure A.1). `passes`, from few to many: when to look. Over
/// the first `tests` test images.  O(samples·64) a step.
[[nodiscard]] DescendedSvm descended_svm(const Setting& setting, const MnistTask& task, const std::string& network,
                                         double lambda, std::span<const Index> passes, Index tests);

}  // namespace widelimit::experiment
