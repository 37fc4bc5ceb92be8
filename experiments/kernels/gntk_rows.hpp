#pragma once

#include "experiments/experiment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A set of Du et al. (2019), Table 1.
struct PublishedGraphs {
  const char* name;
  const char* accuracy;       ///< of the GNTK
  std::vector<Index> layers;  ///< as the authors' program counts them
};
[[nodiscard]] const std::vector<PublishedGraphs>& published_graphs();

/// A kernel: a network, and whether its Gram matrix is divided by the roots of its diagonal or by its least entry.
struct GntkConfiguration {
  Index layers;
  Index mlp;
  const char* scale;
  bool normalised;

  [[nodiscard]] std::string network() const;
  [[nodiscard]] std::string text() const;
};

/// Mean and deviation over folds.
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
  std::vector<GntkScore> best_c;      ///< of each configuration
  GntkScore best;                     ///< the best mean over the folds, as published
  std::optional<FoldMoments> nested;  ///< kernel and C of each fold chosen by the others
  std::vector<GntkScore> chosen;      ///< so, for each fold; empty unless nested
  Index unsolved = 0;                 ///< machines
  double kernel_seconds = 0;
  double machine_seconds = 0;
};

/// What is asked for.
struct GntkChoice {
  std::vector<const PublishedGraphs*> sets;
  std::vector<Index> layers;  ///< empty: those published for a set
  std::vector<Index> mlp;
  std::vector<double> cs;
  bool nested = true;

  /// All options, understood before any work. Error{usage} for those that are none.
  explicit GntkChoice(const Setting& setting);
};

/// A row for each set. Accuracies of every kernel and C go to the file of the option `csv`, Gram matrices to the folder
/// of the option `grams`, as they come; what is there is not computed again.
[[nodiscard]] std::vector<GntkRow> gntk_rows(const Setting& setting, const GntkChoice& choice);

}  // namespace widelimit::experiment
