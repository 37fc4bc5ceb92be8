#pragma once

#include "app/shell/data_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/finite/training/train.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// Values of the options of the training of a finite network.
struct TrainChoice {
  CommonOptions common;
  DataChoice data;
  std::string network;
  std::vector<Index> widths{TrainOptions{}.width};  ///< one width for all hidden layers, or one per layer
  std::string parameterisation{to_string(TrainOptions{}.parameterisation)};
  std::string initialisation{to_string(TrainOptions{}.initialisation)};
  std::string loss{to_string(TrainOptions{}.loss.kind)};
  std::string regulariser{to_string(TrainOptions{}.regulariser)};
  std::string optimiser{to_string(TrainOptions{}.optimiser.kind)};
  std::string schedule{to_string(TrainOptions{}.schedule.kind)};
  TrainOptions numbers;  ///< values of numbers and flags
  bool as_kernel_machine = false;
  std::optional<std::string> out;
  std::optional<std::string> checkpoint;
  std::optional<std::string> from;

  /// Throws Error{usage} if a name is unknown or a number is out of range.
  [[nodiscard]] TrainOptions options() const;
};

/// Adds the options that `equivalence` shares: --loss, --epsilon, --regulariser, --lambda, --rate, --steps, --batch,
/// --record-steps.
void add_training_options(CLI::App& verb, TrainChoice& choice);
/// Adds the options of the network, its widths and the descent, without those of data.
void add_descent_options(CLI::App& verb, TrainChoice& choice);
/// Adds all options of `train`.
void add_train_options(CLI::App& verb, TrainChoice& choice);

/// Returns the options of network, training and data for records and files.
[[nodiscard]] nlohmann::ordered_json train_settings(const TrainChoice& choice, const Network& network,
                                                    const DataRequest& data);

}  // namespace widelimit::app
