#pragma once

#include "widelimit/data/array.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Sets the labels of `data`, one cell per sample: integers or text become classes, in numeric or lexicographic order;
/// reals that are not all integers become targets. Integers are normalised ("+1", "1.0" and "1" are the same class),
/// text is kept. Throws Error{input} if the counts differ or a number is not finite.
void set_labels(Dataset& data, const std::vector<std::string>& cells, const std::string& source);
void set_labels(Dataset& data, const Array& cells, const std::string& source);

/// Type of the labels: class names or numbers.
enum class Task : std::uint8_t { classification, regression };
[[nodiscard]] std::string_view to_string(Task task);
/// Throws Error{usage} with the choices if `text` is none of them.
[[nodiscard]] Task parse_task(std::string_view text);

/// Converts the labels of `data` to `task`: numeric classes become targets, or the distinct target values become
/// classes. Throws Error{input} if a class is not numeric or the set is unlabelled.
void set_task(Dataset& data, Task task);

/// Throws Error{input} that names the first class with fewer than `least` samples; `what` needs them: "folds need".
void require_members(const Dataset& data, Index least, std::string_view what);

/// Throws Error{usage} if the samples have several targets, for methods that support only one.
void require_one_target(const Dataset& data);

/// Guesses whether integer labels are classes or targets. Two values, −1, 0, 1, and up to 20 consecutive values from 0
/// or 1 are classes. Otherwise adds a note with the guess: targets if most values occur once, or if more than 20 are
/// not consecutive from 0 or 1; else classes. Other labels are unchanged.
void guess_task(Dataset& data);

/// Parses a column number: from 0, or from the end with -1; std::nullopt if it is not a number or out of range.
[[nodiscard]] std::optional<Index> column_number(const std::string& text, Index columns);

/// Converts the labels of `data` to indices into `class_names`, or to targets if `regression`, as a test set needs.
/// Throws Error{input} with a class that does not occur in training.
void relabel(Dataset& data, const std::vector<std::string>& class_names, bool regression);

}  // namespace widelimit
