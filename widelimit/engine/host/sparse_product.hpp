#pragma once

#include "widelimit/base/sparse.hpp"

namespace widelimit::host {

/// out(i, j) = ⟨a_i, b_j⟩ for rows of sparse matrices with as many columns. Terms of a pair are added in double by
/// ascending column, so that an entry depends on its two rows alone, and ⟨a_i, b_j⟩ = ⟨b_j, a_i⟩ to the last bit.
/// Cost: the columns that pairs have in common, and memory of the entries of some rows of b, whatever the number of
/// columns. Sequential.
template <std::floating_point T>
void sparse_product(const SparseView& a, const SparseView& b, MatrixView<T> out);

/// ½‖a − sign·b‖², in the order of columns.
[[nodiscard]] double half_squared_distance(const SparseView::Row& a, const SparseView::Row& b, double sign);

}  // namespace widelimit::host
