#pragma once

#include "widelimit/engine/cpu/features.hpp"

#include <vector>

namespace widelimit::cpu {

/// Θ_m(x, x) of each place, computed along with the variances: the diagonal of a symmetric Gram matrix on vectors.
class SelfTangent {
 public:
  SelfTangent(Index channels, Index places);
  /// Applies a step whose variances were `before` and are now advanced.variance.
  void advance(const Step& step, const Variances& before, const Advance& advanced);
  /// Writes the outputs of an emit step to the columns of `outputs`. Throws Error{numerical} on overflow.
  void write(const Step& step, const Variances& variance, MatrixView<double> outputs) const;

 private:
  using Channels = std::vector<Variances>;
  std::vector<Channels> stack_;
};

}  // namespace widelimit::cpu
