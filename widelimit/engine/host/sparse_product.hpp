#pragma once

#include "widelimit/base/sparse.hpp"

namespace widelimit::host {

/// out(i, j) = ⟨a_i, b_j⟩ for the rows of two sparse matrices with equal numbers of columns. Terms of a pair are added
/// in double by ascending column, so that an entry depends only on its two rows, and ⟨a_i, b_j⟩ = ⟨b_j, a_i⟩ bit for
/// bit. Cost: the columns common to pairs, and memory for the entries of some rows of b, independent of the number of
/// columns. Sequential.
template <std::floating_point T>
void sparse_product(const SparseView& a, const SparseView& b, MatrixView<T> out);

/// Returns ½‖a − sign·b‖², summed in column order.
[[nodiscard]] double half_squared_distance(const SparseView::Row& a, const SparseView::Row& b, double sign);

}  // namespace widelimit::host
