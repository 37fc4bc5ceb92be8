#pragma once

#include "widelimit/base/matrix.hpp"

#include <optional>
#include <utility>

namespace widelimit {

/// Running mean and root of the summed squared deviations, entry by entry: Welford's recursion, its square root taken
/// by hypot so that kernels near the ends of the range do not overflow on the way.
class EntryMoments {
 public:
  EntryMoments(Index rows, Index cols) : mean_(rows, cols), root_(rows, cols) {}

  void add(const Matrix<double>& value);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] const Matrix<double>& mean() const { return mean_; }
  /// Standard error of the mean of entry i, of two values at least.
  [[nodiscard]] double error(Index i) const;
  /// Hands over the mean and its standard error; the first pair of which either is not finite, if any.
  std::optional<std::pair<Index, Index>> finish(Matrix<double>& mean, Matrix<double>& error);

 private:
  Index count_ = 0;
  Matrix<double> mean_;
  Matrix<double> root_;
};

}  // namespace widelimit
