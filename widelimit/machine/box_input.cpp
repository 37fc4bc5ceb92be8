#include "widelimit/machine/box_input.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/check_gram.hpp"

#include <algorithm>

namespace widelimit {

void check_box_input(const AnyView& k, Index samples, int threads) {
  std::visit(
      [&](const auto& gram) {
        if (gram.rows != gram.cols) {
          fail(Code::input, "a Gram matrix is square; this one is {} by {}", gram.rows, gram.cols);
        }
        if (gram.rows != samples) fail(Code::input, "the Gram matrix has {} rows for {} labels", gram.rows, samples);
        if (samples == 0) fail(Code::input, "there are no samples to fit");
      },
      k);
  check_gram(k, threads);
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
