#pragma once

#include "widelimit/base/types.hpp"

/// The passes of a box-constrained decomposition over all active variables: the gradient moves along one or two columns
/// of the Gram matrix, and the next variable of the working set is found on the way. Bound only by how fast memory is
/// read, so they are written for several vector widths.
///
/// up[k] and down[k] are what must be added to the gradient for the slope of the objective when variable k grows or
/// falls: ±ε where the objective has a kink, +∞ or −∞ where a bound forbids it.
namespace widelimit::host {

/// A variable and its merit; `at` is −1 where no variable has one.
struct Best {
  double value = 0;
  Index at = -1;
};

/// One or two columns and the steps of their variables; `second` may equal `first` with a step of 0.
template <typename T>
struct Moves {
  const T* first;
  double by_first;
  const T* second;
  double by_second;
};

/// gradient += by_first·first + by_second·second; returns the least gradient + up.
Best advance(const Moves<float>& moves, const double* up, double* gradient, Index size);
Best advance(const Moves<double>& moves, const double* up, double* gradient, Index size);

/// The variable that grows: where it is, its slope and its diagonal entry.
template <typename T>
struct Growing {
  const T* column;
  double slope;
  double diagonal;
};

/// Which variable falls while another grows by the same amount: the one with the largest (Δ slope)²/η, where
/// η = Q_ii + Q_kk − 2K_ik, taken at least `floor`. `largest` becomes the largest gradient + down.
Best partner(const Growing<float>& growing, const double* diagonal, const double* down, const double* gradient,
             Index size, double floor, double& largest);
Best partner(const Growing<double>& growing, const double* diagonal, const double* down, const double* gradient,
             Index size, double floor, double& largest);

/// Without an equality: gradient += by_first·first (the second is not read); returns the variable with the largest
/// slope²·inverse. `largest` becomes the largest slope by which any variable may still descend.
Best advance_single(const Moves<float>& moves, const double* up, const double* down, const double* inverse,
                    double* gradient, Index size, double& largest);
Best advance_single(const Moves<double>& moves, const double* up, const double* down, const double* inverse,
                    double* gradient, Index size, double& largest);

}  // namespace widelimit::host
