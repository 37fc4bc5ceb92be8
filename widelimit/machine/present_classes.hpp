#pragma once

#include "widelimit/base/types.hpp"

#include <vector>

namespace widelimit {

/// The classes that occur in some labels, and the labels as indices into them: a subset of the data may lack some
/// classes.
struct PresentClasses {
  std::vector<Index> classes;  ///< ascending
  std::vector<Index> labels;

  [[nodiscard]] Index count() const { return std::ssize(classes); }
};
[[nodiscard]] PresentClasses present_classes(std::vector<Index> labels);

}  // namespace widelimit
