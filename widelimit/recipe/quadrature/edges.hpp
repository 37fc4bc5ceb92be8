#pragma once

#include "widelimit/recipe/quadrature/pieces.hpp"

#include <functional>
#include <vector>

namespace widelimit {

/// Location of a jump of φ or of one of its derivatives, to within `margin`.
struct EdgeEstimate {
  double place = 0.0;
  double margin = 0.0;
};

/// Estimates edges from short pieces: takes the shortest of each run of pieces shorter than 2⁻¹⁴ of their location.
[[nodiscard]] std::vector<EdgeEstimate> estimate_edges(const Pieces& pieces);

/// Fits a series to φ on [left, right].
using FitPiece = std::function<Piece(double left, double right)>;

/// Refines the location of an edge, from fits of φ on both sides of length at most `length`. A jump of φ is located by
/// bisection to the last bit; a kink as the intersection of the two fits; a jump of φ'' as the intersection of their
/// slopes.
[[nodiscard]] double locate_edge(const EdgeEstimate& estimate, double length, const FitPiece& fit,
                                 const Function& value);

/// Returns the boundaries of pieces at which φ is not smooth, i.e. the series of both sides disagree in extrapolation.
/// `scale` is the magnitude of φ.
[[nodiscard]] std::vector<double> confirm_edges(const Pieces& pieces, double scale);

}  // namespace widelimit
