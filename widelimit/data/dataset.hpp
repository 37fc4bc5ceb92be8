#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/data/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Samples with their labels and metadata. Bytes (images) are stored as float, numbers read from text as double.
/// Samples are sparse if the format supports it and few numbers are nonzero.
struct Dataset {
  std::string name;   ///< as given by the user, for messages and reports
  AnySamples values;  ///< n × shape.size()
  Shape shape;
  std::vector<Index> labels;             ///< class of each sample, an index into class_names; empty if unlabelled
  std::vector<std::string> class_names;  ///< as written in the source, in numeric or lexicographic order
  std::vector<double> targets;           ///< regression targets, if the labels are real numbers; else empty
  Matrix<double> outputs;                ///< several targets per sample, one column each; else without rows
  TableLayout layout;                    ///< of a table; else empty
  std::optional<bool> degree_tags;       ///< of graphs: whether node degrees serve as node tags
  std::vector<std::string> notes;        ///< remarks on how the samples were read, for results and reports

  [[nodiscard]] Index count() const {
    return std::visit([](const auto& m) { return m.rows(); }, values);
  }
  [[nodiscard]] bool labelled() const { return !labels.empty() || !targets.empty() || outputs.rows() > 0; }
  [[nodiscard]] SampleView view() const { return {values, shape}; }
};

}  // namespace widelimit
