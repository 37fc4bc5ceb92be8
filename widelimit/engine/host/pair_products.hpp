#pragma once

#include "widelimit/engine/host/pair_panel.hpp"

namespace widelimit::host {

/// products(x, x') = Σ_k (x_k − mean)(x'_k − mean') for all rows x of the left and x' of the right panel, with equal
/// numbers of coordinates.  O(rows·rows·columns), sequential.
void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products);

/// The same products bit for bit, and distances = ‖x − x'‖₁ = 2Σ_k max(x_k, x'_k) − Σ_k x_k − Σ_k x'_k, which takes two
/// operations per coordinate instead of three. A number passes through h ≤ 130 + d/128 additions, so the error of a
/// distance is at most 3hu(‖x‖₁ + ‖x'‖₁), u = 2⁻⁵³; distances are nonnegative, and 0 for equal rows. Both panels must
/// be constructed with `distances`.
void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products,
                   MatrixView<double> distances);

}  // namespace widelimit::host
