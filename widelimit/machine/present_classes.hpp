#pragma once

#include "widelimit/base/types.hpp"

#include <vector>

namespace widelimit {

/// The classes that occur among some labels, and the labels by their places there: a part of the data may have fewer
/// classes than all of it.
struct PresentClasses {
  std::vector<Index> classes;  ///< ascending
  std::vector<Index> labels;

  [[nodiscard]] Index count() const { return std::ssize(classes); }
};
[[nodiscard]] PresentClasses present_classes(std::vector<Index> labels);

}  // namespace widelimit
