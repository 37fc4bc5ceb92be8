#pragma once

#include "widelimit/machine/machine.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Returns the margin of each sample, from the decision values of a machine and the true classes 0 … classes − 1:
///
///     two classes        y·g with y = ±1;
///     output per class   g_true − max over the others of g;
///     output per pair    the smallest decision in favour of the true class against another.
///
/// A positive margin implies a correct prediction. The converse fails for one-vs-one voting, which can be correct
/// although one pair is wrong. Throws Error{usage} for regression machines and mismatched sizes. O(samples·outputs).
[[nodiscard]] std::vector<double> margins(Scheme scheme, Index classes, MatrixView<const double> decisions,
                                          std::span<const Index> labels);

/// Histogram with equal-width bins, one edge of which is 0: bin b holds [first + b·width, first + (b + 1)·width).
struct Histogram {
  double first = 0;
  double width = 1;
  std::vector<Index> counts;

  [[nodiscard]] double edge(Index b) const { return first + static_cast<double>(b) * width; }
};

/// Returns one histogram per part, with common bins: 2∛n for the largest part (Rice's rule), clamped to 8 … 48, over
/// the range of all values, plus one to place an edge at 0. Empty if there are no values. Throws Error{input} if a
/// value is not finite. O(n).
[[nodiscard]] std::vector<Histogram> histograms(std::span<const std::vector<double>> parts);

}  // namespace widelimit
