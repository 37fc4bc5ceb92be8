#pragma once

#include "widelimit/base/samples.hpp"

#include <span>

namespace widelimit {

/// How much more alike points of one class are than points of two, LA (9):
///
///     RR(K) = mean_same K̄ / (mean_same K̄ + mean_different K̄),   K̄(x,x') = K(x,x')/√(K(x,x)K(x',x')).
///
/// ½ where labels do not matter.
struct LocalElasticity {
  double ratio = 0;
  double same = 0;       ///< mean of K̄ over pairs of one class
  double different = 0;  ///< over pairs of two classes
};

/// Pairs of different samples of a square matrix; of a sample with itself, too, where `self_pairs`. The matrix may be
/// unsymmetric, as that of single training steps is. Error{input} for sizes, a diagonal that is not positive, numbers
/// that are not finite, or labels that leave no pair of a kind; Error{numerical} where the means have no ratio.  O(n²).
[[nodiscard]] LocalElasticity local_elasticity(const AnyView& k, std::span<const Index> labels,
                                               bool self_pairs = false);

/// Test × train. `test_diagonal`: K(x,x) of the test points; where it is empty, they are not normalised, which changes
/// nothing where K(x,x) is the same for all of them.
[[nodiscard]] LocalElasticity local_elasticity(const AnyView& k_test, std::span<const Index> test_labels,
                                               std::span<const double> test_diagonal, std::span<const Index> labels,
                                               std::span<const double> diagonal);

/// K(x,x) of test points of a label-aware kernel K = Θ + λZ, and how they are normalised.
struct TestDiagonals {
  std::span<const double> own;    ///< K(x,x)
  std::span<const double> theta;  ///< Θ(x,x)
  /// Divides by √Θ(x,x) in place of √K(x,x), as the program of LA does for its test row: K̄ is then no cosine.
  bool published = false;
};
/// Test × train of a label-aware kernel.
[[nodiscard]] LocalElasticity label_aware_elasticity(const AnyView& k_test, std::span<const Index> test_labels,
                                                     const TestDiagonals& test_diagonals, std::span<const Index> labels,
                                                     std::span<const double> diagonal);

}  // namespace widelimit
