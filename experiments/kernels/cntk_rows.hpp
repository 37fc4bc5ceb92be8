#pragma once

#include "experiments/tasks/cifar_images.hpp"
#include "experiments/tasks/image_predictions.hpp"
#include "widelimit/network/network.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::experiment {

/// Readout after the last convolution: mean over equal positions (flatten), or global average pooling.
enum class Readout : std::uint8_t { vanilla, pooled };

/// Test accuracies of Arora et al. (2019), Table 1, in percent: kernel regression with CNTK-V and CNTK-GAP, trained on
/// 2,000 and on all images.
struct PublishedDepth {
  Index depth;
  double vanilla_2000, pooled_2000, vanilla_50000, pooled_50000;

  /// Returns the accuracy for this number of training images, or std::nullopt if not published.
  [[nodiscard]] std::optional<double> accuracy(Readout readout, Index images) const;
};
[[nodiscard]] std::span<const PublishedDepth> published_depths();

/// Options of the experiment.
struct CntkChoice {
  Index train = 0, test = 0;
  std::vector<Index> depths;
  Index pooled_train = 0, pooled_test = 0;
  std::vector<Index> pooled_depths;
  std::vector<std::pair<std::string, Network>> further;  ///< text and network
  std::optional<std::filesystem::path> grams;
  std::string csv;  ///< file of all rows; empty: none

  /// Parses and validates all options. Throws Error{usage} or Error{input} if one is invalid.
  explicit CntkChoice(const Setting& setting);
};

/// The machines of one kernel. λ is selected among multiples of the mean diagonal, on at most 2,000 training images.
struct CntkMachines {
  ImagePredictions regression;  ///< ridgeless, targets 0.9 for the class and −0.1 for the others, as published
  ImagePredictions ridge;       ///< the same targets, λ by exact leave-one-out
  ImagePredictions svm;         ///< one-vs-one, λ by five folds
};

/// A row of the tables: the machines of one kernel for given numbers of images.
struct CntkRow {
  std::string kernel;
  std::optional<Readout> readout;  ///< of a CNTK
  Index depth = 0;                 ///< of a CNTK
  Index train = 0, test = 0;
  CntkMachines machines;
  double seconds = 0;  ///< time of the kernel; 0 if it is part of another kernel

  /// Returns the accuracy of regression in percent.
  [[nodiscard]] double percent() const { return 100 * machines.regression.score.accuracy(); }
  [[nodiscard]] std::optional<double> published_percent() const;
};

/// All rows, and the images.
struct CntkRows {
  CifarImages images;
  std::vector<CntkRow> vanilla;
  std::vector<CntkRow> compared;  ///< all kernels on the images of the pooled ones
};

/// Computes all kernels and fits their machines. A vanilla kernel on fewer images is a block of that on more images.
[[nodiscard]] CntkRows cntk_rows(const Setting& setting, const CntkChoice& choice);

}  // namespace widelimit::experiment
