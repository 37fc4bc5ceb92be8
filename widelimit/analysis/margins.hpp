#pragma once

#include "widelimit/machine/machine.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Margin of each sample, from the decisions of a machine and the true classes 0 … classes − 1:
///
///     two classes        y·g with y = ±1;
///     output per class   g_true − max over the others of g;
///     output per pair    the smallest decision in favour of the true class against another.
///
/// Positive where the prediction is correct; a one-vs-one vote may be correct where a single pair is wrong, so there a
/// margin can be negative nevertheless. Error{usage} for regression machines and where sizes do not agree.
/// O(samples·outputs).
[[nodiscard]] std::vector<double> margins(Scheme scheme, Index classes, MatrixView<const double> decisions,
                                          std::span<const Index> labels);

/// A histogram with bins of equal width, one edge of which is 0: bin b holds [first + b·width, first + (b + 1)·width).
struct Histogram {
  double first = 0;
  double width = 1;
  std::vector<Index> counts;

  [[nodiscard]] double edge(Index b) const { return first + static_cast<double>(b) * width; }
};

/// A histogram for each part, all with the same bins: 2∛n of the largest part over the range of all (Rice's rule), at
/// least 8 and at most 48, and one more for the edge at 0. Empty where there is no value. Error{input} for a value that
/// is not finite.  O(n).
[[nodiscard]] std::vector<Histogram> histograms(std::span<const std::vector<double>> parts);

}  // namespace widelimit
