#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/data/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Samples with what is known of them. Bytes (images) are held as float, everything read from text as double; sparse
/// where a format says so and few numbers are not 0.
struct Dataset {
  std::string name;   ///< as the user asked for it, for messages and reports
  AnySamples values;  ///< n × shape.size()
  Shape shape;
  std::vector<Index> labels;             ///< class of each sample, an index into class_names; empty where unlabelled
  std::vector<std::string> class_names;  ///< as written in the source, in the order of their numeric or text value
  std::vector<double> targets;           ///< regression targets, where the labels are real numbers; else empty
  Matrix<double> outputs;                ///< several targets of each sample, a column each; else without rows
  TableLayout layout;                    ///< of a table
  std::optional<bool> degree_tags;       ///< of graphs: whether the tag of a node is its degree
  std::vector<std::string> notes;        ///< what a reader of results should know of how the samples were read

  [[nodiscard]] Index count() const {
    return std::visit([](const auto& m) { return m.rows(); }, values);
  }
  [[nodiscard]] bool labelled() const { return !labels.empty() || !targets.empty() || outputs.rows() > 0; }
  [[nodiscard]] SampleView view() const { return {values, shape}; }
};

}  // namespace widelimit
