#include "widelimit/machine/present_classes.hpp"

#include <algorithm>

namespace widelimit {

PresentClasses present_classes(std::vector<Index> labels) {
  PresentClasses present{labels, {}};
  present.labels = std::move(labels);
  std::sort(present.classes.begin(), present.classes.end());
  present.classes.erase(std::unique(present.classes.begin(), present.classes.end()), present.classes.end());
  for (Index& label : present.labels) {
    label = std::lower_bound(present.classes.begin(), present.classes.end(), label) - present.classes.begin();
  }
  return present;
}

}  // namespace widelimit
