#include "widelimit/machine/svm/box_input.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>

namespace widelimit {

void check_box_input(const GramMatrix& k, Index samples) {
  if (k.samples() != samples) fail(Code::input, "the Gram matrix has {} rows for {} samples", k.samples(), samples);
  (void)k.check();
}

void check_signs(std::span<const double> labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 1 && labels[i] != -1) fail(Code::input, "label {} is {}; labels must be 1 or -1", i, labels[i]);
  }
  if (std::all_of(labels.begin(), labels.end(), [&](double y) { return y == labels[0]; })) {
    fail(Code::input, "all {} labels are {}; a classifier needs samples of both classes", labels.size(), labels[0]);
  }
}

}  // namespace widelimit
