#pragma once

#include "experiments/experiment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A data set of Du et al. (2019), Table 1.
struct PublishedGraphs {
  const char* name;
  const char* accuracy;       ///< of the GNTK
  std::vector<Index> layers;  ///< as counted by the program of the authors
};
[[nodiscard]] const std::vector<PublishedGraphs>& published_graphs();

/// A kernel: a network, and whether its Gram matrix is normalised to unit diagonal or divided by its smallest entry.
struct GntkConfiguration {
  Index layers;
  Index mlp;
  const char* scale;
  bool normalised;

  [[nodiscard]] std::string network() const;
  [[nodiscard]] std::string text() const;
};

/// Mean and standard deviation over folds.
struct FoldMoments {
  double mean = 0;
  double deviation = 0;
};

/// A configuration and a C, with its accuracies over the folds.
struct GntkScore {
  GntkConfiguration configuration;
  double c = 0;
  FoldMoments tests;
};

struct GntkRow {
  std::string name;
  std::string published;
  Index graphs = 0;
  std::vector<GntkScore> best_c;      ///< for each configuration
  GntkScore best;                     ///< the best mean over the folds, as published
  std::optional<FoldMoments> nested;  ///< kernel and C of each fold selected on the other folds
  std::vector<GntkScore> chosen;      ///< that selection for each fold; empty unless nested
  Index unsolved = 0;                 ///< machines that did not converge
  double kernel_seconds = 0;
  double machine_seconds = 0;
};

/// Options of the experiment.
struct GntkChoice {
  std::vector<const PublishedGraphs*> sets;
  std::vector<Index> layers;  ///< empty: those published for each set
  std::vector<Index> mlp;
  std::vector<double> cs;
  bool nested = true;

  /// Parses and validates all options. Throws Error{usage} if one is invalid.
  explicit GntkChoice(const Setting& setting);
};

/// Returns one row per data set. Writes accuracies of every kernel and C to the file of the option `csv`, and Gram
/// matrices to the folder of the option `grams`, as they are computed; existing results are reused.
[[nodiscard]] std::vector<GntkRow> gntk_rows(const Setting& setting, const GntkChoice& choice);

}  // namespace widelimit::experiment
