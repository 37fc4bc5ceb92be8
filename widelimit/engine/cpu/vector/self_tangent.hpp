#pragma once

#include "widelimit/engine/cpu/features.hpp"

#include <vector>

namespace widelimit::cpu {

/// Θ_m(x, x) of each place with itself, beside the variances: the diagonal of a symmetric Gram on vectors.
class SelfTangent {
 public:
  SelfTangent(Index channels, Index places);
  /// Carries out a step whose variances were `before` and are advanced.variance now.
  void advance(const Step& step, const Variances& before, const Advance& advanced);
  /// Writes what an emit step asks for to columns of `outputs`. Error{numerical} on overflow.
  void write(const Step& step, const Variances& variance, MatrixView<double> outputs) const;

 private:
  using Channels = std::vector<Variances>;
  std::vector<Channels> stack_;
};

}  // namespace widelimit::cpu
