#include "widelimit/machine/box_input.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/check_gram.hpp"

#include <algorithm>

namespace widelimit {

namespace {

constexpr double largest_diagonal_entry = 1e300;

}  // namespace

double check_box_input(const AnyView& k, Index samples, int threads) {
  const Index rows = std::visit([](const auto& gram) { return gram.rows; }, k);
  if (rows != samples) fail(Code::input, "the Gram matrix has {} rows for {} samples", rows, samples);
  const double asymmetry = check_gram(k, threads);
  std::visit(
      [&](const auto& gram) {
        for (Index i = 0; i < gram.rows; ++i) {
          const auto own = static_cast<double>(gram(i, i));
          if (own > largest_diagonal_entry) {
            fail(Code::input, "entry ({}, {}) of the Gram matrix is {:.3g}; divide the kernel by a constant", i, i,
                 own);
          }
        }
      },
      k);
  return asymmetry;
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
