#pragma once

#include "widelimit/engine/host/pair_panel.hpp"

namespace widelimit::host {

/// Of all pairs of a row x of the left with a row x' of the right panel, of as many coordinates:
/// products = Σ_k (x_k − mean)(x'_k − mean').  O(rows·rows·columns), sequential.
void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products);

/// The same to the bit, and distances = ‖x − x'‖₁ = 2Σ_k max(x_k, x'_k) − Σ_k x_k − Σ_k x'_k, which takes two
/// operations for each coordinate instead of three. A number passes through h ≤ 130 + d/128 additions, so that
/// distances are right to 3hu(‖x‖₁ + ‖x'‖₁), u = 2⁻⁵³; they are never negative, and 0 for equal rows. Panels must be
/// made for distances.
void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products,
                   MatrixView<double> distances);

}  // namespace widelimit::host
