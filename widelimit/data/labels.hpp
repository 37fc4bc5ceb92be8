#pragma once

#include "widelimit/data/array.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Gives `data` its labels, one cell a sample: integers or text become classes, in the order of their number or
/// text; reals that are not all integers become targets. Integers lose their spelling ("+1", "1.0" and "1" are one
/// class), text keeps it. Error{input} where counts differ or a number is not finite.
void set_labels(Dataset& data, const std::vector<std::string>& cells, const std::string& source);
void set_labels(Dataset& data, const Array& cells, const std::string& source);

/// A column asked for by number: from 0, or from the end with -1; none where it is not a number or out of range.
[[nodiscard]] std::optional<Index> column_number(const std::string& text, Index columns);

/// Rewrites the labels of `data` as indices into `class_names`, or as targets where `regression`: a test set must
/// speak the language of its training set. Error{input} names a class that training never saw.
void relabel(Dataset& data, const std::vector<std::string>& class_names, bool regression);

}  // namespace widelimit
