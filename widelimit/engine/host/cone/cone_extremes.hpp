#pragma once

#include "widelimit/engine/host/cone/cone.hpp"

/// Extremes of H(a, N) = N·κ(a/N) over a ≥ 0 of a range and N of another, |a| ≤ N.
/// [docs/theory/certificates-proof.md#interval]
namespace widelimit::host {

/// A range of N, and what κ does to H there. For fixed a, H is convex in N.
struct ConeEdges {
  double inner = 0, outer = 0;                  ///< ends of N
  double inner_inverse = 0, outer_inverse = 0;  ///< a/N is a multiple of them, but for rounding
  double grows = 0;                             ///< up to this a, H surely grows in N
  double falls = 0;                             ///< from this a on, H surely falls in N
  double slope = 0;                             ///< H ≥ slope·a
  double largest = 0;                           ///< κ(1)
};

/// Ranges of a of some samples, and their weights.
struct ConeSamples {
  Index count = 0;
  const double* low = nullptr;
  const double* high = nullptr;
  const double* weight = nullptr;
};

/// Quotients are moved by this part of themselves to the side that a bound needs: more than what rounding does to them.
inline constexpr double ratio_slack = 0x1p-50;

/// to[k] ≤ H for all a ≥ low[k] ≥ 0; anything finite where low[k] < 0.
void least_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* low, double* to);
/// to[k] ≥ H for all 0 ≤ a ≤ high[k]; anything finite where high[k] < 0.
void most_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* high, double* to);

/// Of each sample the bound that the sign of its weight asks for: least_on_edges where weight[k] > 0, most_on_edges
/// elsewhere. Whether low[k] < 0 anywhere, where the bound means nothing.
[[nodiscard]] bool bound_on_edges(const ConeChain& chain, const ConeEdges& edges, const ConeSamples& samples,
                                  double* to);

/// low[k] = max(a[k] − reach, −limit), high[k] = min(a[k] + reach, limit) with reach = radius·spread[k] + error; a
/// spread of null is 1.
struct ConeSpread {
  const double* a = nullptr;
  const double* spread = nullptr;
  double radius = 0, error = 0, limit = 0;
};
void widen_ranges(const ConeSpread& from, Index count, double* low, double* high);

/// bound_on_edges of these ranges, which are not stored.
[[nodiscard]] bool bound_on_edges(const ConeChain& chain, const ConeEdges& edges, const ConeSpread& from, Index count,
                                  const double* weight, double* to);

}  // namespace widelimit::host
