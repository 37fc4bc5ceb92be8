#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/data/formats/graph.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Description of a data set, as printed by `data show`.
struct DataDescription {
  std::string name;
  Index count = 0;
  Shape shape;
  Precision precision = Precision::f64;
  std::vector<std::pair<std::string, Index>> classes;  ///< name and number of samples
  double low = 0;                                      ///< minimum over all features
  double high = 0;
  double target_low = 0;  ///< minimum of the targets, if any
  double target_high = 0;
  bool regression = false;
  std::vector<Column> columns;  ///< of a table
  std::vector<std::vector<double>> first_rows;
  std::optional<Index> stored;                                       ///< of sparse samples: number of stored entries
  std::vector<std::vector<std::pair<Index, double>>> first_entries;  ///< of sparse samples: (feature, value)
  std::vector<std::string> first_labels;
  std::vector<std::string> problems;  ///< constant columns, duplicate rows, tiny or empty classes
};

/// Describes `data` with its first `rows` samples. Cost: O(n·d).
[[nodiscard]] DataDescription describe(const Dataset& data, Index rows = 3);
[[nodiscard]] std::string to_text(const DataDescription& description);
[[nodiscard]] nlohmann::json to_json(const DataDescription& description);

/// Description of a set of graphs, as printed by `data show`.
struct GraphDescription {
  std::string name;
  Index count = 0;
  std::vector<std::pair<std::string, Index>> classes;
  Index tags = 0;
  double mean_nodes = 0;
  double mean_edges = 0;
  Index folds = 0;
  Index isolated = 0;  ///< nodes without neighbours
  std::vector<std::string> problems;
};

[[nodiscard]] GraphDescription describe(const GraphSet& set);
[[nodiscard]] std::string to_text(const GraphDescription& description);
[[nodiscard]] nlohmann::json to_json(const GraphDescription& description);

}  // namespace widelimit
