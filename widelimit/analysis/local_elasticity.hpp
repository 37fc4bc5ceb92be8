#pragma once

#include "widelimit/base/samples.hpp"

#include <span>

namespace widelimit {

/// Ratio of within-class to between-class similarity, LA (9):
///
///     RR(K) = mean_same K̄ / (mean_same K̄ + mean_different K̄),   K̄(x,x') = K(x,x')/√(K(x,x)K(x',x')).
///
/// ½ if similarities do not depend on labels.
struct LocalElasticity {
  double ratio = 0;
  double same = 0;       ///< mean of K̄ over within-class pairs
  double different = 0;  ///< mean of K̄ over between-class pairs
};

/// Averages over the pairs of a square matrix, which need not be symmetric; pairs (i, i) count only if `self_pairs`.
/// Throws Error{input} for mismatched sizes, a nonpositive diagonal entry, entries that are not finite, or labels
/// without a within-class or between-class pair; Error{numerical} if the sum of the means is not positive. O(n²).
[[nodiscard]] LocalElasticity local_elasticity(const AnyView& k, std::span<const Index> labels,
                                               bool self_pairs = false);

/// Same for a test × train matrix. `test_diagonal` holds K(x,x) of the test points; if empty, rows are not normalised,
/// which does not change the ratio if K(x,x) is constant.
[[nodiscard]] LocalElasticity local_elasticity(const AnyView& k_test, std::span<const Index> test_labels,
                                               std::span<const double> test_diagonal, std::span<const Index> labels,
                                               std::span<const double> diagonal);

/// Diagonals of the test points of a label-aware kernel K = Θ + λZ, and the normalisation to use.
struct TestDiagonals {
  std::span<const double> own;    ///< K(x,x)
  std::span<const double> theta;  ///< Θ(x,x)
  /// Divides by √Θ(x,x) instead of √K(x,x), as the published code of LA does for test rows; K̄ is then not a cosine.
  bool published = false;
};
/// Same for the test × train matrix of a label-aware kernel.
[[nodiscard]] LocalElasticity label_aware_elasticity(const AnyView& k_test, std::span<const Index> test_labels,
                                                     const TestDiagonals& test_diagonals, std::span<const Index> labels,
                                                     std::span<const double> diagonal);

}  // namespace widelimit
