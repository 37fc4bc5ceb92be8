#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"

#include <concepts>
#include <span>

namespace widelimit {

/// A = S K S + c I with S = diag(scale), where scale is given: what a ridge machine of weights s² has to solve. A
/// sample of scale 0 takes no part: its unknown is 0 whatever the right side says.
struct RidgeMatrix {
  AnyView k;
  std::span<const double> scale;
  double shift = 0;

  [[nodiscard]] double scale_of(Index i) const { return scale.empty() ? 1.0 : scale[static_cast<std::size_t>(i)]; }
  /// out = b − A x.  O(n² columns).
  void residual(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> out) const;
};

/// The upper triangle of A, rounded to T; returns ‖A‖₁.  O(n²). `progress` may stop it.
template <std::floating_point T>
double fill_upper(const RidgeMatrix& a, MatrixView<T> out, int threads, Progress* progress = nullptr);

}  // namespace widelimit
