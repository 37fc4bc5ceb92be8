#pragma once

#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/machine/machine.hpp"

#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// The functionals that must stay positive so that a point keeps its class.
struct PointFunctionals {
  std::vector<Functional> functionals;
  std::vector<double> values;  ///< of the functionals at the point
  bool correct = false;
  double margin = 0;    ///< the smallest value
  bool decided = true;  ///< false: one-vs-one with a tie of votes
};

/// Returns the functionals of one row of decisions: the sign of one output; the output of the class minus each other
/// output; for one-vs-one, the duels of the class if it wins all of them, otherwise all duels, so that the votes stay
/// unchanged.
[[nodiscard]] PointFunctionals functionals_of(Scheme scheme, Index classes, MatrixView<const double> decisions,
                                              Index point, Index label);

/// Throws Error{input} for labels outside the classes of the machine, and Error{usage} for regression with several
/// outputs.
void check_labels(Scheme scheme, Index classes, Index outputs, std::span<const Index> labels, Index samples);

}  // namespace widelimit
