#pragma once

#include "widelimit/recipe/pointwise.hpp"

#include <memory>
#include <vector>

namespace widelimit {

/// φ(s·z), z standard normal, at the nodes of a composite Gauss–Legendre rule that resolves it: panels end at the
/// boundaries of the pieces of φ and extend as far as products with Hermite functions contribute. Expectations are sums
/// over the nodes, E[f(z)] = Σ_q weight_q·(f(z_q) + f(−z_q)).
struct GaussianSample {
  std::shared_ptr<const Pieces> pieces;
  double deviation = 0.0;                        ///< s
  std::vector<double> z;                         ///< positive, ascending
  std::vector<double> panel;                     ///< weights of the panel rule, without the density
  std::vector<double> weight;                    ///< weights including the density
  std::vector<double> above, below;              ///< φ(s·z_q), φ(−s·z_q)
  std::vector<double> slope_above, slope_below;  ///< φ'(s·z_q), φ'(−s·z_q)

  long double square = 0;        ///< E[φ(u)²], u = s·z
  long double slope_square = 0;  ///< E[φ'(u)²]
  /// d log E[φ²]/d log s and d log E[φ'²]/d log s, in absolute value: amplification of a relative error of s.
  /// Integration by parts: s·dE[f(s·z)]/ds = E[(z² − 1)f(s·z)].
  double growth = 0.0;
  double slope_growth = 0.0;
  /// E[(d log s)⁻²(φ(u)/r − φ(u')/r')²], r = √E[φ²], for u' = (1 + d log s)·u: sensitivity of the normalised function
  /// to its deviation.
  double stretch = 0.0;
  /// Approximation errors of the pieces, relative to the roots of `square` and `slope_square`.
  double error = 0.0;
  double slope_error = 0.0;
};

/// Panels have length `panel` at most: 1 suffices for Hermite polynomials of degree below 256, 1/4 for 1024. Throws
/// Error{numerical} if E[φ²] does not exist, i.e. φ grows too fast for a Gaussian of this deviation.  O(nodes); about
/// 200 nodes for smooth functions.
[[nodiscard]] GaussianSample sample_gaussian(const Pointwise& phi, double deviation, double panel = 1.0);
/// The same with φ evaluated from its pieces, for functions that are slow or must not be called on this thread.
[[nodiscard]] GaussianSample sample_pieces(const Pointwise& phi, double deviation);

}  // namespace widelimit
