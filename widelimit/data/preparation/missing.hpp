#pragma once

#include "widelimit/data/dataset.hpp"

namespace widelimit {

/// What stands for a missing value, NaN, of each column of `train`, a table: the mean or the median over its samples,
/// of categories the most frequent. Becomes `fill` of the columns of its layout. Error{input} for a column without any
/// value.  O(samples·features).
void learn_fill(Dataset& train, Missing how);

/// Replaces NaN in `data`, a table, by what `layout`, which has as many features, knows to put in its place.
void fill_missing(Dataset& data, const TableLayout& layout);

}  // namespace widelimit
