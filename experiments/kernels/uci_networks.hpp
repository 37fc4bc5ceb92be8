#pragma once

#include "experiments/kernels/uci_sets.hpp"
#include "widelimit/finite/architecture.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment::uci {

/// Networks that start and train alike.
struct NetworkKind {
  std::string name;  ///< as published: "NN (NTK init)"
  Parameterisation parameterisation;
};
/// NN (He init): standard parameterisation, w_std = √2. NN (NTK init): NTK parameterisation, the same function at the
/// start.
[[nodiscard]] const std::vector<NetworkKind>& network_kinds();

/// What is chosen among. Networks have ReLU layers without bias and an output for each class, and lower the
/// cross-entropy of all samples of a training set by Nesterov's method, momentum 0.9, in float32.
struct NetworkGrid {
  std::vector<Index> hidden;  ///< layers
  std::vector<Index> widths;
  std::vector<double> rates;  ///< multiples of the rate that is stable at the start
  Index steps = 0;            ///< those of a training; an eighth, a quarter and half of them are chosen among, too

  /// The whole of it, with the seed: what results of a file are of.
  [[nodiscard]] std::string text(std::uint64_t seed) const;
};

/// What a kind chose on a set by half of it, and its mean accuracy over the four tests.
struct NetworkResult {
  std::string network;  ///< "2 hidden of 256, rate 1, 400 steps"
  double accuracy = 0;
};

/// By the partitions of evaluate_set: every network learns the first part of the selection and tells the second; the
/// first of the best, in the order of layers, widths, rates and steps, learns the training parts of the tests. Its rate
/// is that of the mean loss. Trainings that diverge tell nothing right. One seed each.
[[nodiscard]] std::vector<NetworkResult> train_networks(const Setting& setting, const UciSet& set,
                                                        const NetworkGrid& grid, Progress* progress);

}  // namespace widelimit::experiment::uci
