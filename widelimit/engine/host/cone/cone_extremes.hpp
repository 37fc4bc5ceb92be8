#pragma once

#include "widelimit/engine/host/cone/cone.hpp"

/// Extremes of H(a, N) = N·κ(a/N) over ranges of a ≥ 0 and N with |a| ≤ N. [docs/theory/certificates-proof.md#interval]
namespace widelimit::host {

/// A range of N and the behaviour of H on it. For fixed a, H is convex in N.
struct ConeEdges {
  double inner = 0, outer = 0;                  ///< ends of the range of N
  double inner_inverse = 0, outer_inverse = 0;  ///< rounded 1/inner, 1/outer
  double grows = 0;                             ///< for a up to this value, H increases in N
  double falls = 0;                             ///< for a from this value on, H decreases in N
  double slope = 0;                             ///< H ≥ slope·a
  double largest = 0;                           ///< κ(1)
};

/// Ranges of a for several samples, and their weights.
struct ConeSamples {
  Index count = 0;
  const double* low = nullptr;
  const double* high = nullptr;
  const double* weight = nullptr;
};

/// Relative slack by which quotients are moved in the direction of a bound; exceeds their rounding error.
inline constexpr double ratio_slack = 0x1p-50;

/// to[k] ≤ H for all a ≥ low[k] ≥ 0; an arbitrary finite number if low[k] < 0.
void least_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* low, double* to);
/// to[k] ≥ H for all 0 ≤ a ≤ high[k]; an arbitrary finite number if high[k] < 0.
void most_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* high, double* to);

/// Computes for each sample the bound required by the sign of its weight: least_on_edges if weight[k] > 0, else
/// most_on_edges. Returns true if any low[k] < 0, where the bound is invalid.
[[nodiscard]] bool bound_on_edges(const ConeChain& chain, const ConeEdges& edges, const ConeSamples& samples,
                                  double* to);

/// low[k] = max(a[k] − reach, −limit), high[k] = min(a[k] + reach, limit) with reach = radius·spread[k] + error; a null
/// spread means 1.
struct ConeSpread {
  const double* a = nullptr;
  const double* spread = nullptr;
  double radius = 0, error = 0, limit = 0;
};
void widen_ranges(const ConeSpread& from, Index count, double* low, double* high);

/// bound_on_edges for these ranges, without storing them.
[[nodiscard]] bool bound_on_edges(const ConeChain& chain, const ConeEdges& edges, const ConeSpread& from, Index count,
                                  const double* weight, double* to);

}  // namespace widelimit::host
