#include "widelimit/recipe/quadrature/edges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Length of a piece relative to its location below which an edge is estimated.
constexpr double short_length = 0x1p-14;

double width_of(const Piece& piece) { return piece.right - piece.left; }

double size_of(const Piece& piece) {
  double largest = 0;
  for (const double c : piece.value) largest = std::max(largest, std::abs(c));
  return largest;
}

double value_at(const Function& function, double x) {
  double y = 0;
  function({&x, 1}, {&y, 1});
  return y;
}

/// φ'' of a piece, by a finite difference over a tenth of its length.
double curvature_at(const Piece& piece, double x) {
  const double step = 0.1 * width_of(piece);
  const double inner = x + (x - piece.left < piece.right - x ? step : -step);
  return (piece.at(inner).slope - piece.at(x).slope) / (inner - x);
}

/// Locates a jump between low and high to the last bit by bisection.
double locate_jump(double low, double high, const Piece& before, const Piece& after, const Function& value) {
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    const double y = value_at(value, middle);
    (std::abs(y - before.at(middle).value) < std::abs(y - after.at(middle).value) ? low : high) = middle;
  }
}

}  // namespace

std::vector<EdgeEstimate> estimate_edges(const Pieces& pieces) {
  const auto is_short = [&](const Piece& piece) {
    return width_of(piece) <=
           short_length * std::max({std::abs(piece.left), std::abs(piece.right), 0x1p-10 * pieces.reach});
  };
  std::vector<EdgeEstimate> edges;
  for (auto piece = pieces.list.begin(); piece != pieces.list.end();) {
    if (!is_short(*piece)) {
      ++piece;
      continue;
    }
    const auto end = std::find_if_not(piece, pieces.list.end(), is_short);
    const auto shortest = std::min_element(piece, end, [](const Piece& a, const Piece& b) {
      const double ratio = width_of(a) / width_of(b);
      return ratio < 0.75 || (ratio < 1.5 && a.error > b.error);
    });
    const double least = 64 * std::numeric_limits<double>::epsilon() * std::abs(shortest->left);
    edges.push_back({shortest->left + width_of(*shortest) / 2, std::max(8 * width_of(*shortest), least)});
    piece = end;
  }
  return edges;
}

double locate_edge(const EdgeEstimate& estimate, double length, const FitPiece& fit, const Function& value) {
  auto [edge, margin] = estimate;
  for (int pass = 0; pass < 2; ++pass) {
    const double low = edge - margin;
    const double high = edge + margin;
    const Piece before = fit(low - length, low);
    const Piece after = fit(high, high + length);
    const double size = std::max(size_of(before), size_of(after));
    if (std::abs(before.at(edge).value - after.at(edge).value) > 1e-7 * size) {
      return locate_jump(low, high, before, after, value);
    }
    double next = edge;
    for (int step = 0; step < 3; ++step) {
      const double slope = before.at(next).slope - after.at(next).slope;
      const double steep = std::max(std::abs(before.at(next).slope), std::abs(after.at(next).slope)) + size / length;
      next -= std::abs(slope) > 1e-6 * steep ? (before.at(next).value - after.at(next).value) / slope
                                             : slope / (curvature_at(before, low) - curvature_at(after, high));
      if (!(next > low && next < high)) return edge;
    }
    const double least = 16 * std::numeric_limits<double>::epsilon() * std::abs(next);
    margin = std::min(margin, std::max(4 * std::abs(next - edge), least));
    edge = next;
  }
  return edge;
}

std::vector<double> confirm_edges(const Pieces& pieces, double scale) {
  std::vector<double> edges;
  for (std::size_t k = 1; k < pieces.list.size(); ++k) {
    const Piece& before = pieces.list[k - 1];
    const Piece& after = pieces.list[k];
    const double beyond = 0.05 * std::min(width_of(before), width_of(after));
    const double size = std::max({scale, size_of(before), size_of(after)});
    const double apart = std::max(std::abs(before.at(after.left + beyond).value - after.at(after.left + beyond).value),
                                  std::abs(before.at(after.left - beyond).value - after.at(after.left - beyond).value));
    if (apart > 1e-11 * size + 1e3 * (before.error + after.error)) edges.push_back(after.left);
  }
  return edges;
}

}  // namespace widelimit
