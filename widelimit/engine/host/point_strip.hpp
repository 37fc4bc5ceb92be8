#pragma once

#include "widelimit/base/matrix.hpp"

#include <algorithm>
#include <concepts>
#include <span>
#include <vector>

/// Sparse machines at some new points at a time. The points of a strip stand beside each other in memory: row j of it
/// has their kernels with sample j, so that a coefficient is read once for all of them and sums stay in registers.
namespace widelimit::host {

/// Points of a strip; the rest of one with fewer is not used.
inline constexpr Index strip_points = 64;

/// A coefficient that is not 0 and the sample it belongs to.
struct Weighted {
  Index sample;
  double by;
};

/// The strip of points whose kernels with the samples are the rows of k, strip_points at the most.
template <std::floating_point T>
[[nodiscard]] std::vector<double> strip_of(const MatrixView<const T>& k) {
  constexpr Index at_once = 8;  // a cache line of a row of k; so many rows of the strip stay in the first-level cache
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

/// Of one class and the points of a strip: votes for it, and decisions in its favour.
struct Tally {
  double* votes;
  double* sums;
};

/// One pair of classes: decision + bias above 0 is a vote for the first, else for the second, and counts in favour of
/// the first and against the second.
void count_pair(const double* decisions, double bias, const Tally& first, const Tally& second);

/// At each point the class with the most votes; of equal ones the first, or with `by_sums` that with the larger sum.
/// Votes of class c are row 2c of `tallies`, its sums row 2c + 1.
void elect(const double* tallies, Index classes, bool by_sums, Index* elected);

}  // namespace widelimit::host
