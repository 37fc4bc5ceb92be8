#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/data/labels/split.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment::uci {

/// A set of the benchmark of Fernández-Delgado et al. (2014) with the partitions that were published with it.
struct UciSet {
  std::string name;
  Dataset data;
  SplitRows selection;           ///< conxuntos.dat: half to train on, half to choose parameters by
  std::vector<SplitRows> tests;  ///< conxuntos_kfold.dat: four random 3/4 to train on, 1/4 to test
};

/// The `count` smallest sets of the 90, by their number of samples. Error{input} where tables or partitions are missing
/// or do not fit together.
[[nodiscard]] std::vector<UciSet> load_uci_sets(const Setting& setting, Index count);

}  // namespace widelimit::experiment::uci
