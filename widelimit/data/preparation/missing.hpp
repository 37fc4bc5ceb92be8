#pragma once

#include "widelimit/data/dataset.hpp"

namespace widelimit {

/// Computes the fill of each column of `train`, a table with NaN for missing values: the mean or median over its
/// samples, for categories the most frequent one. Stores it in `fill` of the columns of its layout. Throws Error{input}
/// for a column without any value. Cost: O(samples·features).
void learn_fill(Dataset& train, Missing how);

/// Replaces NaN in `data`, a table, by the fills of `layout`, which has the same number of features.
void fill_missing(Dataset& data, const TableLayout& layout);

}  // namespace widelimit
