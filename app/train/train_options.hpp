#pragma once

#include "app/shell/data_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/finite/training/train.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// How a finite network is trained, as typed.
struct TrainChoice {
  CommonOptions common;
  DataChoice data;
  std::string network;
  std::vector<Index> widths{TrainOptions{}.width};  ///< of all hidden layers, or of each
  std::string parameterisation{to_string(TrainOptions{}.parameterisation)};
  std::string initialisation{to_string(TrainOptions{}.initialisation)};
  std::string loss{to_string(TrainOptions{}.loss.kind)};
  std::string regulariser{to_string(TrainOptions{}.regulariser)};
  std::string optimiser{to_string(TrainOptions{}.optimiser.kind)};
  std::string schedule{to_string(TrainOptions{}.schedule.kind)};
  TrainOptions numbers;  ///< what is typed as a number or a flag
  bool as_kernel_machine = false;
  std::optional<std::string> out;
  std::optional<std::string> checkpoint;
  std::optional<std::string> from;

  /// Error{usage} where a word is unknown or a number out of range.
  [[nodiscard]] TrainOptions options() const;
};

/// --loss, --regulariser, --lambda, --rate, --steps, --batch and the like: what `equivalence`
/// takes as well.
void add_training_options(CLI::App& verb, TrainChoice& choice);
/// The network, its widths and descent on its weights, without data.
void add_descent_options(CLI::App& verb, TrainChoice& choice);
/// All options of `train`.
void add_train_options(CLI::App& verb, TrainChoice& choice);

/// What was trained on what, for records and files.
[[nodiscard]] nlohmann::ordered_json train_settings(const TrainChoice& choice, const Network& network,
                                                    const DataRequest& data);

}  // namespace widelimit::app
