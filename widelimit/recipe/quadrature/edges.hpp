#pragma once

#include "widelimit/recipe/quadrature/pieces.hpp"

#include <functional>
#include <vector>

namespace widelimit {

/// A place where φ or one of its derivatives jumps, to within `margin`.
struct SuspectedEdge {
  double place = 0.0;
  double margin = 0.0;
};

/// Guessed from where pieces have become short: the shortest of each run of pieces shorter than 2⁻¹⁴ of their place.
[[nodiscard]] std::vector<SuspectedEdge> suspect_edges(const Pieces& pieces);

/// A series of φ on [left, right].
using FitPiece = std::function<Piece(double left, double right)>;

/// Where exactly: φ is fitted on both sides, at most `room` long. Where it jumps, halving by values leads to the last
/// bit; where it has a kink, the two sides meet; where only φ'' jumps, their slopes do.
[[nodiscard]] double locate_edge(const SuspectedEdge& suspected, double room, const FitPiece& fit,
                                 const Function& value);

/// Ends of pieces that are ends of smoothness: the series on one side does not go on as that on the other. `scale` is
/// the size of φ.
[[nodiscard]] std::vector<double> confirm_edges(const Pieces& pieces, double scale);

}  // namespace widelimit
