#pragma once

#include "widelimit/analysis/evolution/evolution.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Owning probe set, chosen from a data set by probe_samples, class by class.
struct ProbeSet {
  AnySamples x;
  Shape shape;
  Matrix<double> y;
  std::vector<Index> classes;  ///< empty if there are fewer than two classes

  /// `class_names` are those of the training samples. Throws Error{input} if the samples have no labels.
  ProbeSet(const Dataset& data, const std::vector<std::string>& class_names, const Loss& loss, Index count);

  /// Returns a view of the samples.
  [[nodiscard]] Probe probe() const { return {.x = SampleView(x, shape), .y = y.view(), .classes = classes}; }
};

}  // namespace widelimit
