#pragma once

#include "widelimit/analysis/evolution/evolution.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// A probe set of its own, chosen from a data set by probe_samples: classes one after the other.
struct ProbeSet {
  AnySamples x;
  Shape shape;
  Matrix<double> y;
  std::vector<Index> classes;  ///< empty where there are not two of them

  /// `class_names`: those of the training samples. Error{input} where the samples have no labels.
  ProbeSet(const Dataset& data, const std::vector<std::string>& class_names, const Loss& loss, Index count);

  /// Borrows.
  [[nodiscard]] Probe probe() const { return {.x = SampleView(x, shape), .y = y.view(), .classes = classes}; }
};

}  // namespace widelimit
