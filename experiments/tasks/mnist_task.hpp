#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/dataset.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment {

/// MNIST, values in [0, 1], in the order of the source, with the kernel of one network.
struct MnistTask {
  Dataset train;
  Dataset test;
  AnyMatrix k;                ///< train × train
  AnyMatrix k_test;           ///< test × train
  bool semidefinite = false;  ///< k is positive semi-definite by construction
  double seconds = 0;         ///< time of the kernels
  std::string route;

  [[nodiscard]] Index classes() const { return std::ssize(train.class_names); }
};

/// Loads the first `samples` training digits of these classes (default: all ten) and all their test digits. Throws
/// Error{input} with the searched locations if MNIST is missing.
[[nodiscard]] MnistTask mnist_task(const Setting& setting, const std::string& network,
                                   const std::vector<std::string>& classes, Index samples);

}  // namespace widelimit::experiment
