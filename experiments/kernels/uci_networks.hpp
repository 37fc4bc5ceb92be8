#pragma once

#include "experiments/kernels/uci_sets.hpp"
#include "widelimit/finite/architecture.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment::uci {

/// A parameterisation of networks.
struct NetworkKind {
  std::string name;  ///< as published: "NN (NTK init)"
  Parameterisation parameterisation;
};
/// NN (He init): standard parameterisation, w_std = √2. NN (NTK init): NTK parameterisation, the same initial function.
[[nodiscard]] const std::vector<NetworkKind>& network_kinds();

/// Hyperparameter grid. Networks have ReLU layers without bias and one output per class, and are trained by full-batch
/// cross-entropy with Nesterov momentum 0.9 in float32.
struct NetworkGrid {
  std::vector<Index> hidden;  ///< layers
  std::vector<Index> widths;
  std::vector<double> rates;  ///< multiples of the stable rate at initialisation
  Index steps = 0;            ///< of a training; an eighth, a quarter and half of them are tried too

  /// Returns the grid and the seed as text, the key of results in a file.
  [[nodiscard]] std::string text(std::uint64_t seed) const;
};

/// The network selected on one half of a set, and its mean accuracy over the four tests.
struct NetworkResult {
  std::string network;  ///< "2 hidden of 256, rate 1, 400 steps"
  double accuracy = 0;
};

/// Uses the partitions of evaluate_set: trains every network on the first part of the selection and scores it on the
/// second; the best network, the first in the order of layers, widths, rates and steps in case of ties, is trained on
/// the training parts of the tests, with the same rate on the mean loss. Diverging trainings have accuracy 0. One seed
/// each.
[[nodiscard]] std::vector<NetworkResult> train_networks(const Setting& setting, const UciSet& set,
                                                        const NetworkGrid& grid, Progress* progress);

}  // namespace widelimit::experiment::uci
