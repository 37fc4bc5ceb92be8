#pragma once

#include "widelimit/recipe/pointwise.hpp"

#include <memory>
#include <vector>

namespace widelimit {

/// φ(s·z), z standard normal, at the nodes of a rule that resolves it: short Gauss–Legendre panels with ends wherever a
/// piece of φ ends, as far out as products with Hermite functions count. Expectations are sums over the nodes,
/// E[f(z)] = Σ_q weight_q·(f(z_q) + f(−z_q)).
struct GaussianSample {
  std::shared_ptr<const Pieces> pieces;
  double deviation = 0.0;                        ///< s
  std::vector<double> z;                         ///< positive, ascending
  std::vector<double> panel;                     ///< weights of the panels' rule, without the density
  std::vector<double> weight;                    ///< with it
  std::vector<double> above, below;              ///< φ(s·z_q), φ(−s·z_q)
  std::vector<double> slope_above, slope_below;  ///< φ'(s·z_q), φ'(−s·z_q)

  long double square = 0;        ///< E[φ(u)²], u = s·z
  long double slope_square = 0;  ///< E[φ'(u)²]
  /// d log E[φ²]/d log s and d log E[φ'²]/d log s: what a relative error of s becomes. By parts, s·dE[f(s·z)]/ds =
  /// E[(z² − 1)f(s·z)].
  double growth = 0.0;
  double slope_growth = 0.0;
  /// E[(d log s)⁻²(φ(u)/r − φ(u')/r')²], r = √E[φ²], for u' = (1 + d log s)·u: how fast the normalised function moves
  /// with its deviation.
  double stretch = 0.0;
  /// What the pieces leave, relative to the roots of `square` and `slope_square`.
  double error = 0.0;
  double slope_error = 0.0;
};

/// Error{numerical} where E[φ²] does not exist: φ grows too fast for a Gaussian of this deviation.  O(nodes); about 200
/// nodes for smooth functions.
/// Panels of length `panel` at most: one is enough for Hermite polynomials of degree below 256, a quarter for 1024.
[[nodiscard]] GaussianSample sample_gaussian(const Pointwise& phi, double deviation, double panel = 1.0);
/// The same with φ read off its pieces, for functions that are slow or not to be called from here.
[[nodiscard]] GaussianSample sample_pieces(const Pointwise& phi, double deviation);

}  // namespace widelimit
