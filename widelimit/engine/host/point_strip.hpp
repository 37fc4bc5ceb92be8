#pragma once

#include "widelimit/base/matrix.hpp"

#include <algorithm>
#include <concepts>
#include <span>
#include <vector>

/// Evaluates sparse machines on strips of new points. The points of a strip are contiguous in memory: row j holds their
/// kernels with sample j, so that each coefficient is read once per strip and sums stay in registers.
namespace widelimit::host {

/// Number of points of a strip; shorter strips are padded.
inline constexpr Index strip_points = 64;

/// A nonzero coefficient and the index of its sample.
struct Weighted {
  Index sample;
  double by;
};

/// Returns the strip of the points whose kernels with the samples are the rows of k, at most strip_points.
template <std::floating_point T>
[[nodiscard]] std::vector<double> strip_of(const MatrixView<const T>& k) {
  constexpr Index at_once = 8;  // one cache line of a row of k; as many rows of the strip fit in the first-level cache
  std::vector<double> strip(usize(k.cols * strip_points));
  for (Index first = 0; first < k.cols; first += at_once) {
    const Index end = std::min(k.cols, first + at_once);
    for (Index i = 0; i < k.rows; ++i) {
      const T* row = k.row(i);
      for (Index j = first; j < end; ++j) strip[usize(j * strip_points + i)] = static_cast<double>(row[j]);
    }
  }
  return strip;
}

/// sums[i] = Σ by·strip[sample·strip_points + i], in the order of the entries.
void weigh_strip(std::span<const Weighted> entries, const double* strip, double* sums);

/// Votes and summed decisions of one class for the points of a strip.
struct Tally {
  double* votes;
  double* sums;
};

/// Counts one pair of classes: if decision + bias > 0 the first class gets the vote, else the second; the sum is added
/// to the first and subtracted from the second.
void count_pair(const double* decisions, double bias, const Tally& first, const Tally& second);

/// Selects for each point the class with the most votes; ties go to the first class or, with `by_sums`, to the larger
/// sum. Row 2c of `counts` holds the votes of class c, row 2c + 1 its sums.
void find_winners(const double* counts, Index classes, bool by_sums, Index* winners);

}  // namespace widelimit::host
