#pragma once

#include "widelimit/base/samples.hpp"

#include <optional>
#include <utility>

namespace widelimit {

/// Summary statistics of the entries of a matrix.
struct Entries {
  Index rows = 0;
  Index cols = 0;
  double smallest = 0;
  double largest = 0;
  double mean = 0;
  std::optional<double> trace;  ///< only if the matrix is square
};

/// Throws Error{numerical} naming the first entry that is not finite.  O(rows·cols).
[[nodiscard]] Entries summarise(const AnyMatrix& matrix);

/// Running mean and root of the sum of squared deviations of each entry by Welford's recursion. The root is updated
/// with hypot, so that kernels near the limits of float64 do not overflow in intermediate results.
class EntryMoments {
 public:
  EntryMoments(Index rows, Index cols) : mean_(rows, cols), root_(rows, cols) {}

  void add(const Matrix<double>& value);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] const Matrix<double>& mean() const { return mean_; }
  /// Standard error of the mean of entry i; needs at least two values.
  [[nodiscard]] double error(Index i) const;
  /// Moves out the mean and its standard error; returns the first pair for which either is not finite, if any.
  std::optional<std::pair<Index, Index>> finish(Matrix<double>& mean, Matrix<double>& error);

 private:
  Index count_ = 0;
  Matrix<double> mean_;
  Matrix<double> root_;
};

}  // namespace widelimit
