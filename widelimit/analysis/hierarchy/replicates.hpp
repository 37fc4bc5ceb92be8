#pragma once

#include "widelimit/analysis/hierarchy/directions.hpp"
#include "widelimit/analysis/hierarchy/fourth_order.hpp"
#include "widelimit/kernel/entries.hpp"

#include <vector>

namespace widelimit {

/// Independent replicates of the correction Σ_ij M_ij E[K⁽⁴⁾(x,x',i,j)]: each is a mean over the first directions of a
/// quasi-random sequence of its own, and their scatter gives standard errors. Errors fall faster than 1/√S in the
/// length of the replicates, but only as 1/√R in their number R; R is therefore fixed.
class Replicates {
 public:
  static constexpr Index count = 16;
  static constexpr Index batch = 256;  ///< directions in one set of matrix products

  /// Sums have points × samples entries. If they are kept, longer replicates need only the additional directions, at
  /// `count` more such matrices; the results have the same bits. The arguments must outlive the object.
  Replicates(FourthOrderSum& sum, const Directions& directions, Index points, Index samples, bool keep);

  /// Returns the moments over replicates of `size` directions each, a function of `size` alone; sizes must not
  /// decrease. `size` must be even if directions are antithetic.
  [[nodiscard]] EntryMoments lengthened_to(Index size, Progress* progress);

 private:
  /// Adds the forms of directions first, …, last − 1 of a replicate.
  void draw(Index replicate, Index first, Index last, Matrix<double>& total);

  FourthOrderSum& sum_;
  const Directions& directions_;
  Index points_;
  Index samples_;
  std::vector<Matrix<double>> kept_;  ///< sums over the first `drawn_` directions of each replicate, or empty
  Index drawn_ = 0;
};

}  // namespace widelimit
