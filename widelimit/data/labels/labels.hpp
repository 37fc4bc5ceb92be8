#pragma once

#include "widelimit/data/array.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Gives `data` its labels, one cell a sample: integers or text become classes, in the order of their number or
/// text; reals that are not all integers become targets. Integers lose their spelling ("+1", "1.0" and "1" are one
/// class), text keeps it. Error{input} where counts differ or a number is not finite.
void set_labels(Dataset& data, const std::vector<std::string>& cells, const std::string& source);
void set_labels(Dataset& data, const Array& cells, const std::string& source);

/// What labels are: names of classes, or numbers.
enum class Task : std::uint8_t { classification, regression };
[[nodiscard]] std::string_view to_string(Task task);
/// Error{usage} lists the choices.
[[nodiscard]] Task parse_task(std::string_view text);

/// Reads the labels of `data` as `task` says: classes that are numbers become targets, targets become the classes of
/// their different values. Error{input} for a class that is no number, or an unlabelled set.
void set_task(Dataset& data, Task task);

/// Error{usage} for samples with several targets, which not all work on labels can use.
void require_one_target(const Dataset& data);

/// Labels that are whole numbers may be classes or numbers to predict. Two values, −1, 0, 1, and up to
/// 20 that count from 0 or 1 are classes. Of others a note says what was guessed: numbers where most occur once, or
/// where more than 20 do not count from 0 or 1, else classes. Other labels stay as they are.
void guess_task(Dataset& data);

/// A column asked for by number: from 0, or from the end with -1; none where it is not a number or out of range.
[[nodiscard]] std::optional<Index> column_number(const std::string& text, Index columns);

/// Rewrites the labels of `data` as indices into `class_names`, or as targets where `regression`: a test set must
/// speak the language of its training set. Error{input} names a class that training never saw.
void relabel(Dataset& data, const std::vector<std::string>& class_names, bool regression);

}  // namespace widelimit
