#pragma once

#include "experiments/kernels/cntk_machines.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::experiment {

/// After the last convolution: the mean over equal positions (flatten), or global average pooling.
enum class Readout : std::uint8_t { vanilla, pooled };

/// Test accuracies of Arora et al. (2019), Table 1, in percent: kernel regression with CNTK-V and CNTK-GAP, trained on
/// 2,000 and on all images.
struct PublishedDepth {
  Index depth;
  double vanilla_2000, pooled_2000, vanilla_50000, pooled_50000;

  /// By so many training images; nothing for another number of them.
  [[nodiscard]] std::optional<double> accuracy(Readout readout, Index images) const;
};
[[nodiscard]] std::span<const PublishedDepth> published_depths();

/// What is asked for.
struct CntkChoice {
  Index train = 0, test = 0;
  std::vector<Index> depths;
  Index pooled_train = 0, pooled_test = 0;
  std::vector<Index> pooled_depths;
  std::vector<std::pair<std::string, Network>> further;  ///< as asked for
  std::optional<std::filesystem::path> grams;
  std::string csv;  ///< file of all lines; empty: none

  /// All options, understood before any work. Error{usage} or Error{input} for those that are none.
  explicit CntkChoice(const Setting& setting);
};

/// A line of the tables: the machines of one kernel on so many images.
struct CntkRow {
  std::string kernel;
  std::optional<Readout> readout;  ///< of a CNTK
  Index depth = 0;                 ///< of a CNTK
  Index train = 0, test = 0;
  CntkMachines machines;
  double seconds = 0;  ///< of its kernel; 0 where it is part of another's

  /// Of regression.
  [[nodiscard]] double percent() const { return 100 * machines.regression.score.accuracy(); }
  [[nodiscard]] std::optional<double> published_percent() const;
};

/// All lines, and the images that they are about.
struct CntkRows {
  CifarImages images;
  std::vector<CntkRow> vanilla;
  std::vector<CntkRow> compared;  ///< all kernels on the images of the pooled ones
};

/// Computes all kernels and fits their machines. A vanilla kernel on fewer images is a part of that on more.
[[nodiscard]] CntkRows cntk_rows(const Setting& setting, const CntkChoice& choice);

}  // namespace widelimit::experiment
