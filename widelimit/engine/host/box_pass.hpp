#pragma once

#include "widelimit/base/types.hpp"

/// Passes of a decomposition method for box-constrained problems over all active variables: update the gradient along
/// one or two columns of the Gram matrix and select the next variable of the working set. Memory-bound, hence compiled
/// for several vector widths.
///
/// up[k] and down[k] are added to the gradient to give the slope of the objective if variable k increases or decreases:
/// ±ε at a kink of the objective, +∞ or −∞ if a bound forbids the move.
namespace widelimit::host {

/// A variable and its selection score; `at` is −1 if there is no candidate.
struct ScoredVariable {
  double value = 0;
  Index at = -1;
};

/// One or two columns and the steps of their variables; `second` may equal `first` with step 0.
template <typename T>
struct Moves {
  const T* first;
  double by_first;
  const T* second;
  double by_second;
};

/// Updates gradient += by_first·first + by_second·second; returns the minimum of gradient + up.
ScoredVariable advance(const Moves<float>& moves, const double* up, double* gradient, Index size);
ScoredVariable advance(const Moves<double>& moves, const double* up, double* gradient, Index size);

/// The variable to increase: its column, slope and diagonal entry.
template <typename T>
struct IncreasedVariable {
  const T* column;
  double slope;
  double diagonal;
};

/// Returns the variable to decrease by the same amount: the one with the largest (Δ slope)²/η, where η = Q_ii + Q_kk −
/// 2K_ik is at least `floor`. Sets `largest` to the maximum of gradient + down.
ScoredVariable partner(const IncreasedVariable<float>& growing, const double* diagonal, const double* down,
                       const double* gradient, Index size, double floor, double& largest);
ScoredVariable partner(const IncreasedVariable<double>& growing, const double* diagonal, const double* down,
                       const double* gradient, Index size, double floor, double& largest);

/// Without an equality constraint: gradient += by_first·first (the second column is not read); returns the variable
/// with the largest slope²·inverse. Sets `largest` to the largest descent slope of any variable.
ScoredVariable advance_single(const Moves<float>& moves, const double* up, const double* down, const double* inverse,
                              double* gradient, Index size, double& largest);
ScoredVariable advance_single(const Moves<double>& moves, const double* up, const double* down, const double* inverse,
                              double* gradient, Index size, double& largest);

}  // namespace widelimit::host
