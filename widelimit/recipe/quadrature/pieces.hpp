#pragma once

#include "widelimit/network/activation.hpp"

#include <array>
#include <span>
#include <vector>

namespace widelimit {

/// φ(x) and φ'(x).
struct ValueAndSlope {
  double value = 0.0;
  double slope = 0.0;
};

/// An interval on which φ and φ' are polynomials to working precision: Chebyshev series in (2x − left − right)/(right −
/// left).
struct Piece {
  static constexpr std::size_t terms = 20;

  double left = 0.0;
  double right = 0.0;
  std::array<double, terms> value{};
  std::array<double, terms> slope{};
  double error = 0.0;        ///< estimate of |φ − series|
  double slope_error = 0.0;  ///< estimate of |φ' − series|

  [[nodiscard]] ValueAndSlope at(double x) const;
  /// Evaluates φ and φ' at many points.
  void at(std::span<const double> x, double* values, double* slopes) const;
};

/// Piecewise approximation of φ on [−reach, reach].
struct Pieces {
  std::vector<Piece> list;    ///< from left to right, without gaps
  std::vector<double> edges;  ///< boundaries of pieces at which φ or one of its derivatives jumps
  double reach = 0.0;

  /// The piece that contains x; the outermost one beyond the reach.
  [[nodiscard]] const Piece& around(double x) const;
};

/// φ, and φ' if known; otherwise φ' is the derivative of the series of φ, which loses about three digits.
struct Differentiable {
  Function value;
  Function slope;  ///< may be empty
};

/// Partitions [−reach, reach] into pieces. The initial boundaries are 0 and powers of two from ½ on; an interval is
/// bisected until its last Chebyshev coefficients are below rounding and the series agrees with φ at points between its
/// nodes. If bisection does not converge, φ has a jump or a kink; that point is located to rounding and becomes a
/// boundary of pieces. A function that would need more than 4,000 pieces (noise, fast oscillations) gets about that
/// many, with the remaining errors recorded.
///
/// Limitation: features narrower than a thirtieth of their interval may be missed.
[[nodiscard]] Pieces cut_into_pieces(const Differentiable& function, double reach);

}  // namespace widelimit
