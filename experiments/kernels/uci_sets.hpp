#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/data/labels/split.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment::uci {

/// A data set of the benchmark of Fernández-Delgado et al. (2014) with its published partitions.
struct UciSet {
  std::string name;
  Dataset data;
  SplitRows selection;           ///< conxuntos.dat: one half for training, one for selection
  std::vector<SplitRows> tests;  ///< conxuntos_kfold.dat: four random splits, 3/4 training, 1/4 test
};

/// Loads the `count` smallest of the 90 data sets, by number of samples. Throws Error{input} if tables or partitions
/// are missing or inconsistent.
[[nodiscard]] std::vector<UciSet> load_uci_sets(const Setting& setting, Index count);

}  // namespace widelimit::experiment::uci
