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

/// A stretch of the real line on which φ and φ' are polynomials to working precision: Chebyshev series in
/// (2x − left − right)/(right − left).
struct Piece {
  static constexpr std::size_t terms = 20;

  double left = 0.0;
  double right = 0.0;
  std::array<double, terms> value{};
  std::array<double, terms> slope{};
  double error = 0.0;        ///< estimate of |φ − series|
  double slope_error = 0.0;  ///< the same of φ'

  [[nodiscard]] ValueAndSlope at(double x) const;
  /// φ and φ' at many points at once.
  void at(std::span<const double> x, double* values, double* slopes) const;
};

/// φ on [−reach, reach].
struct Pieces {
  std::vector<Piece> list;    ///< from left to right, without gaps
  std::vector<double> edges;  ///< ends of pieces where φ or one of its derivatives jumps
  double reach = 0.0;

  /// The piece around x; the outermost one beyond the reach.
  [[nodiscard]] const Piece& around(double x) const;
};

/// φ, and φ' where it is known; else it is taken from the series of φ, which costs about three digits.
struct Differentiable {
  Function value;
  Function slope;  ///< may be empty
};

/// Cuts [−reach, reach] into pieces. The cut begins at 0 and at powers of two from ½ on; an interval is halved until
/// its last Chebyshev coefficients are below rounding and the series agrees with φ at points between its nodes. Where
/// halving does not help, φ jumps or has a kink; that point is located to rounding and becomes an end of pieces. A
/// function that would need more than 4,000 pieces (noise, fast oscillations) gets them with the errors that are left.
///
/// What this cannot see: features narrower than a thirtieth of the interval they lie in.
[[nodiscard]] Pieces cut_into_pieces(const Differentiable& function, double reach);

}  // namespace widelimit
