#pragma once

#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/machine/machine.hpp"

#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// What must stay positive so that a point keeps its class.
struct PointFunctionals {
  std::vector<Functional> functionals;
  std::vector<double> values;  ///< of each at the point
  bool correct = false;
  double margin = 0;    ///< the smallest of them at the point
  bool decided = true;  ///< false: one against one, and votes alone do not decide
};

/// Of one row of decisions: the sign of one output; the class's output against every other; one against one the duels
/// of the class where it wins them all, else all duels, whose votes then stay.
[[nodiscard]] PointFunctionals functionals_of(Scheme scheme, Index classes, MatrixView<const double> decisions,
                                              Index point, Index label);

/// Error{input} for labels that a machine of so many classes does not know; Error{usage} for numbers with several
/// outputs, which have no class.
void check_labels(Scheme scheme, Index classes, Index outputs, std::span<const Index> labels, Index samples);

}  // namespace widelimit
